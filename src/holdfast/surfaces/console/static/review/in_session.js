/**
 * What waits for a person, where it stands in a session: the same cards as in the lists, asked for
 * once and kept while the timeline is drawn anew, so that words that are being written stay.
 */

import { h, replace } from "../lib/dom.js";
import { approvalCard } from "./approval_card.js";
import { questionForm } from "./people_forms.js";

const KINDS = {
  approvals: { key: "approval_id", make: approvalCard },
  questions: { key: "call_id", make: questionForm },
};
const known = new WeakMap();

/** `kind`: "approvals" with the id of an approval, or "questions" with that of a call. */
export function waitingHere(ctx, kind, id) {
  if (!known.has(ctx)) known.set(ctx, new Map());
  const made = known.get(ctx);
  if (!made.has(id)) made.set(id, place(ctx, KINDS[kind], kind, id));
  return made.get(id);
}

function place(ctx, { key, make }, kind, id) {
  const root = h("div.in-session", h("p.dim", { role: "status" }, "Looking …"));
  ctx.app.api.get(`/${kind}`, { session: ctx.session }).then(
    (told) => {
      const found = told[kind].find((one) => one[key] === id);
      replace(root, found ? make(found, ctx.app, { inSession: true }) : h("p.dim", "It was answered elsewhere."));
    },
    (problem) => {
      known.get(ctx).delete(id);
      replace(root, h("p.caution", problem.message));
    },
  );
  return root;
}
