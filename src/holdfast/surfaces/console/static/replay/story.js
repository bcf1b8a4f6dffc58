/** The events of a session, and the session as it stood at any of them. */

import { makeFold } from "../timeline/fold.js";

const PAGE = 1000;

/** All events, page by page; `told(count)` along the way, and no more once `stopped()`. */
export async function allEvents(api, id, told = () => {}, stopped = () => false) {
  const events = [];
  let after = 0;
  while (!stopped()) {
    const page = await api.get(`/sessions/${encodeURIComponent(id)}/events`, { after, limit: PAGE });
    events.push(...page.events);
    told(events.length);
    if (page.next === null || page.events.length === 0) break;
    after = page.next;
  }
  return events;
}

/** `entries(count)`: the timeline after so many events. Going on is cheap, going back folds anew. */
export function storyAt(events) {
  let fold = makeFold();
  let told = 0;
  return {
    entries(count) {
      if (count < told) {
        fold = makeFold();
        told = 0;
      }
      while (told < count) fold.event(events[told++]);
      return fold.entries;
    },
  };
}
