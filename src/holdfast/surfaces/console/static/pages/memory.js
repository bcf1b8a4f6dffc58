// What an agent knows beyond one session: notes that all its sessions share, and what it learned.

import { h, replace } from "../lib/dom.js";
import { many } from "../lib/format.js";
import { ageOf, choice, copyButton, loaded, nothing } from "../lib/parts.js";
import { sessionNames } from "../review/session_names.js";
import { foldable, seen } from "../text/shown.js";

export const page = {
  path: "/console/memory",
  title: "Memory",
  nav: { label: "Memory", icon: "memory", keys: "g m", group: "Look" },
  show(root, params, app) {
    const undo = app.disposer();
    const body = h("div.stack");
    const agents = h("div");
    const words = h("input", { type: "search", placeholder: "Find in what was learned", "aria-label": "Find in what was learned" });
    replace(root, h("div.page-pad.narrow", h("header.page-head", h("h1", "Memory"), agents), body));

    const look = (agent) => loaded(body, () => app.api.get("/memory", { agent }), (told) => (undo.over ? null : memory(told, words, sessionNames(app))));
    undo.add(app.server.watch((server) => {
      if (!server) return;
      const wanted = params.query.get("agent") ?? server.default_agent;
      const ids = [...new Set([...server.agents.map((one) => one.id), wanted])];
      replace(agents, choice(ids, wanted, (agent) => {
        app.note({ agent });
        look(agent);
      }, { "aria-label": "Agent" }));
    }));
    look(params.query.get("agent"));
    return undo.dispose;
  },
};

function memory({ agent, notes, learnings }, words, names) {
  const list = h("ol.learnings");
  const draw = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = learnings.filter((one) => wanted.every((word) => `${one.title} ${one.detail}`.toLowerCase().includes(word)));
    replace(list, shown.length === 0 ? h("li.dim", "Nothing of that.") : shown.map((one) => h("li.learning",
      h("h3", seen(one.title)),
      h("p.lines", seen(one.detail)),
      h("p.row", names.link(one.session_id), ageOf(one.at)))));
  };
  words.oninput = draw;
  draw();
  return [
    h("section.panel",
      h("header.panel-head", h("h2.grow", "Notes"), notes ? copyButton(notes.text, "Copy the notes") : null),
      h("div.panel-body", notes
        ? [notes.text.trim() === "" ? h("p.dim", "They are empty.") : foldable(notes.text, 60), h("p.hint", seen(notes.path ?? ""))]
        : nothing("No notes yet.", `What ${agent} writes into MEMORY.md for all its sessions stands here.`))),
    h("section.stack",
      h("div.row.wrap", h("h2.grow", "Learned"), learnings.length > 5 ? h("div.narrowing", words) : null),
      learnings.length === 0 ? nothing("Nothing was learned yet.", "An agent keeps what it learns for later sessions here.") : [h("p.hint", many(learnings.length, "learning")), list]),
  ];
}

