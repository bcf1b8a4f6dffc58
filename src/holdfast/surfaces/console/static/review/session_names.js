/** What sessions are called, asked once each and kept for the page. */

import { h, setText } from "../lib/dom.js";

/** `link(id, at?)` gives a link to a session, or to one of its events, that gets its title once that is known. */
export function sessionNames(app) {
  const known = new Map();
  function titleOf(id) {
    if (app.server.get()?.workbench === id) return Promise.resolve("Workbench");
    const row = app.sessions.get().get(id);
    if (row?.title) return Promise.resolve(row.title);
    if (!known.has(id)) {
      known.set(id, app.api.get(`/sessions/${encodeURIComponent(id)}`).then((one) => one.title ?? null, () => null));
    }
    return known.get(id);
  }
  return {
    titleOf,
    link(id, { sequence = null, label = null } = {}) {
      const said = h("span", label ?? id);
      if (label === null) titleOf(id).then((title) => title && setText(said, title));
      return h("a", { href: eventAddress(id, sequence), title: id }, said);
    },
  };
}

/** Where a session, or one of its events, is shown. */
export function eventAddress(id, sequence = null) {
  const session = `/console/sessions/${encodeURIComponent(id)}`;
  return sequence === null ? session : `${session}?event=${sequence}`;
}
