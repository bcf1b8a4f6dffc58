// Words across all sessions: what was said, called and answered.

import { h, replace } from "../lib/dom.js";
import { many } from "../lib/format.js";
import { ageOf, badge, button, nothing, problemBox, waitingLines } from "../lib/parts.js";
import { eventAddress, sessionNames } from "../review/session_names.js";
import { excerptParts } from "../review/wire.js";
import { seen } from "../text/shown.js";

const PAUSE_MS = 250;
const MOST = 100;
const KINDS = {
  "user.message": "a person said",
  "agent.message": "the agent said",
  "model.replied": "the model said",
  "call.asked": "was called",
  "call.settled": "was answered",
  "approval.asked": "was asked about",
};

export const page = {
  path: "/console/search",
  title: "Search",
  nav: { label: "Search", icon: "search", keys: "g f", group: "Look" },
  show(root, params, app) {
    const undo = app.disposer();
    const found = h("div.found", { "aria-live": "polite" });
    const input = h("input", { type: "search", "aria-label": "Words to search for", placeholder: "Words that were said, called or answered", value: params.query.get("q") ?? "", autocomplete: "off" });
    const only = params.query.get("session");
    const names = sessionNames(app);
    let turn = 0;
    let timer = 0;

    async function look() {
      const q = input.value.trim();
      app.note({ q, session: only });
      turn += 1;
      const mine = turn;
      if (q === "") {
        replace(found, nothing("What are you looking for?", "Events that hold all the words are found, the best first."));
        return;
      }
      if (found.children.length === 0) replace(found, waitingLines(5));
      try {
        const told = (await app.api.get("/search", { q, session: only, limit: MOST })).found;
        if (mine === turn) replace(found, results(told, names, q));
      } catch (problem) {
        if (mine === turn) replace(found, problem.status === 422 ? nothing("No words to search for.", problem.message) : problemBox(problem, look));
      }
    }

    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(look, PAUSE_MS);
    });
    const form = h("form.search-form", { role: "search", on: { submit: (event) => {
      event.preventDefault();
      clearTimeout(timer);
      look();
    } } }, input, button({ label: "Search", icon: "search", kind: "main", type: "submit" }));
    replace(root, h("div.page-pad.narrow", h("header.page-head", h("h1", "Search")), form,
      only ? h("p.hint", "Only in ", names.link(only), ". ", h("a", { href: "/console/search" }, "In all sessions")) : null, found));
    input.focus();
    look();
    undo.add(() => {
      clearTimeout(timer);
      turn += 1;
    });
    undo.add(app.keys.bind("/", "Search", () => input.focus()));
    return undo.dispose;
  },
};

/** Sessions in the order of their best event, each with its events. */
function results(found, names, q) {
  if (found.length === 0) return nothing("Nothing holds all these words.", "Try fewer of them, or another form.");
  const groups = new Map();
  for (const one of found) groups.set(one.session_id, [...(groups.get(one.session_id) ?? []), one]);
  return [
    h("p.hint", { role: "status" }, `${found.length >= MOST ? "The best " : ""}${many(found.length, "event")} in ${many(groups.size, "session")}`),
    [...groups].map(([id, events]) => h("section.found-session",
      h("h2", names.link(id)),
      h("ol", events.map((one) => h("li", h("a.found-event", { href: eventAddress(id, one.sequence) },
        h("span.row", badge(KINDS[one.type] ?? one.type), h("span.faint", `event ${one.sequence}`), ageOf(one.at)),
        h("span.found-excerpt", excerptParts(one.excerpt, q).map((part) => (part.hit ? h("mark", seen(part.text)) : seen(part.text)))))))))),
  ];
}
