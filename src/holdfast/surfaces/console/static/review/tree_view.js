/** The sessions that work together, from the one at the top: who handed what to whom, and how it stands. */

import { h } from "../lib/dom.js";
import { ageOf, badge } from "../lib/parts.js";
import { seen } from "../text/shown.js";

const TONES = { idle: "ok", busy: "busy", retrying: "warn", waiting_on_approval: "warn", waiting_on_user_input: "warn", error: "bad" };
const WORDS = { waiting_on_approval: "waits for leave", waiting_on_user_input: "waits for input", retrying: "goes on later" };

/**
 * A tree as `GET /sessions/{id}/tree` gives it. `choose(id, event)` may take a click over; it
 * returns false to let the link be followed.
 */
export function treeView({ tree, here }, { choose = null, label = "Sessions that work together" } = {}) {
  return h("nav.work-tree", { "aria-label": label }, h("ul", branch(tree, here, choose)));
}

/** How many sessions a tree has. */
export function treeSize(tree) {
  return 1 + tree.children.reduce((sum, child) => sum + treeSize(child), 0);
}

function branch(tree, here, choose) {
  const { session, children } = tree;
  const state = session.left ? "left" : session.reported;
  const link = h("a.work-session", {
    href: `/console/sessions/${encodeURIComponent(session.id)}`,
    "aria-current": session.id === here ? "page" : null,
    on: choose ? { click: (event) => {
      if (choose(session.id, event) !== false) event.preventDefault();
    } } : {},
  },
  h("span.cut", seen(session.title || session.id)),
  badge(WORDS[state] ?? state, session.left ? "bad" : TONES[state]),
  session.waiting?.approvals > 0 ? badge(`${session.waiting.approvals} to decide`, "warn") : null);
  return h("li",
    h("div.work-row", link, session.agent_id ? h("span.faint", seen(session.agent_id)) : null, ageOf(session.updated_at)),
    children.length > 0 ? h("ul", children.map((child) => branch(child, here, choose))) : null);
}
