// The workbench: every tool there is, a form for its arguments, what policy says of the call, and the call.

import { callForm } from "../forms/call_form.js";
import { h, replace, setText } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { badge, button, loaded, nothing, problemBox } from "../lib/parts.js";
import { approvalCard } from "../review/approval_card.js";
import { envelopeView } from "../review/envelope_view.js";
import { explainer } from "../review/explainer.js";
import { whenWaitingChanges } from "../review/live_list.js";
import { questionForm } from "../review/people_forms.js";
import { write } from "../text/json_text.js";
import { jsonBlock, seen } from "../text/shown.js";

export const page = {
  path: "/console/tools",
  title: "Workbench",
  nav: { label: "Workbench", icon: "tools", keys: "g w", group: "Look" },
  show(root, params, app) {
    const undo = app.disposer();
    const body = h("div.bench");
    replace(root, h("div.page-pad", h("header.page-head", h("h1", "Workbench")), body));
    loaded(body, () => app.api.get("/tools"), (found) => bench(found, params, app, undo));
    return undo.dispose;
  },
};

function bench({ tools, session_id: written }, params, app, undo) {
  const chosenPlace = h("section.bench-tool", { "aria-live": "off" });
  const rows = h("ul.bench-rows");
  const filter = h("input", { type: "search", placeholder: "Find a tool", "aria-label": "Find a tool", on: { input: () => list() } });
  let inner = null;
  let name = params.query.get("tool");

  function list() {
    const words = filter.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const found = tools.filter((tool) => words.every((word) => `${tool.name} ${tool.description ?? ""} ${sourceOf(tool)}`.toLowerCase().includes(word)));
    const groups = new Map();
    for (const tool of found) {
      const group = tool.hidden ? "Found on demand" : sourceOf(tool);
      groups.set(group, [...(groups.get(group) ?? []), tool]);
    }
    replace(rows, found.length === 0 ? h("li.dim", "No such tool.") : [...groups].map(([group, members]) => [
      h("li.bench-group", h("span", seen(group)), h("span", "tokens")),
      members.map((tool) => h("li", h("a.bench-row", {
        href: `/console/tools?tool=${encodeURIComponent(tool.name)}`, "aria-current": tool.name === name ? "true" : null,
        class: tool.hidden && "hidden-tool",
        on: { click: (event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          open(tool.name);
        } },
      }, h("code", seen(tool.name)), h("span.faint", { title: `about ${tool.cost} tokens for a model` }, count(tool.cost))))),
    ]));
  }

  function open(wanted) {
    name = wanted;
    app.note({ tool: name });
    list();
    draw();
    if (matchMedia("(max-width: 760px)").matches) chosenPlace.scrollIntoView();
  }

  function draw() {
    inner?.dispose();
    inner = app.disposer();
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) {
      replace(chosenPlace, nothing(name ? `There is no tool ${name}.` : "Choose a tool.", "Its form is made from its schema; every call passes the same checks as a model's."));
      return;
    }
    replace(chosenPlace, toolView(tool, written, app, inner));
  }

  undo.add(() => inner?.dispose());
  list();
  draw();
  undo.add(app.keys.bind("/", "Find a tool", () => filter.focus()));
  return [h("nav.bench-list", { "aria-label": "Tools" }, filter, rows), chosenPlace];
}

function toolView(tool, written, app, undo) {
  const explained = explainer(app, tool.name);
  const form = callForm(tool.input_schema, () => explained.soon(form.text(), form.ready()));
  const answers = h("div.stack", { "aria-live": "polite" });
  const go = button({ label: "Call", kind: "main", icon: "play", action: () => (form.check() ? call() : undefined) });

  async function call() {
    const text = form.text();
    const place = h("article.call-card");
    answers.prepend(place);
    while (answers.children.length > 8) answers.lastElementChild.remove();
    const state = h("p.approval-told.tone-busy", { role: "status" }, "It runs …");
    const waiting = h("div");
    replace(place, h("header.row.wrap", h("code", seen(tool.name)), h("span.faint.cut.grow", seen(text))), state, waiting);
    const stop = meetPerson(tool.name, text, written, waiting, state, app);
    undo.add(stop);
    try {
      const envelope = await app.api.post(`/tools/${encodeURIComponent(tool.name)}/calls`, { arguments: text });
      state.remove();
      place.append(envelopeView(envelope));
    } catch (problem) {
      state.remove();
      place.append(problemBox(problem));
    } finally {
      stop();
      replace(waiting);
    }
  }

  undo.add(explained.dispose);
  undo.add(app.keys.bind("mod+Enter", "Call the tool", () => go.click(), { typing: true }));
  explained.soon(form.text(), form.ready());
  return [
    h("header.bench-head",
      h("h2", h("code", seen(tool.name))),
      badge(`${count(tool.cost)} tokens`), badge(sourceOf(tool)),
      tool.read_only ? badge("only reads", "ok") : null, tool.destructive ? badge("destructive", "warn") : null,
      tool.permission_policy === "always_ask" ? badge("always asks", "warn") : null),
    (tool.remarks ?? []).map((remark) => h("p.caution", seen(remark))),
    tool.hidden ? h("p.caution", seen(`Not offered to a model: ${tool.hidden}`)) : null,
    description(tool),
    h("div.bench-work",
      h("div.bench-form", form,
        h("div.bench-go", go, h("a", { href: `/console/sessions/${encodeURIComponent(written)}` }, "Every call is kept in this session"))),
      h("aside.bench-why", { "aria-label": "What would happen" }, h("h3", "What would happen"), explained.root)),
    answers,
    h("details.why", h("summary", "Schema"), jsonBlock(write(tool.input_schema), { label: "Schema of the arguments" }),
      tool.output_schema ? [h("h3", "Of what it gives"), jsonBlock(write(tool.output_schema), { label: "Schema of results" })] : null),
  ];
}

const SOURCES = { managed: "built in or handed over", mcp: "MCP server", custom: "your application" };

/** Where a tool comes from, as far as it is told. */
function sourceOf(tool) {
  return tool.toolset || tool.source || SOURCES[tool.ownership] || tool.ownership;
}

function description(tool) {
  const [first, ...rest] = (tool.description ?? "").split("\n");
  const more = rest.join("\n").trim();
  return h("div.bench-about", h("p", seen(first)), more ? h("details.why", h("summary", "More"), h("p.lines", seen(more))) : null);
}

/** While the call is under way, what it asks a person is shown right here. */
function meetPerson(name, text, session, place, state, app) {
  const known = new Set();
  let over = false;
  const show = (id, said, make) => {
    if (over || known.has(id)) return;
    known.add(id);
    setText(state, said);
    place.append(make((stage) => (stage === "given" ? setText(state, "It goes on …") : undefined)));
  };
  async function look() {
    try {
      const [{ approvals }, { questions }] = await Promise.all([app.api.get("/approvals", { session }), app.api.get("/questions", { session })]);
      for (const one of approvals) {
        if (one.tool !== name || one.arguments !== text) continue;
        show(one.approval_id, "It waits for your leave.", (onStage) => approvalCard(one, app, { onStage, inSession: true }));
      }
      for (const one of questions) {
        if (one.tool === name) show(one.call_id, "It asks you something.", (onStage) => questionForm(one, app, { onStage, inSession: true }));
      }
    } catch {
      // It is asked for again with the next change; the pages of approvals and questions have it, too.
    }
  }
  const stops = [whenWaitingChanges(app, "approvals", look), whenWaitingChanges(app, "questions", look)];
  return () => {
    over = true;
    for (const stop of stops) stop();
  };
}
