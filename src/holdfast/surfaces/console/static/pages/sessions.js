// The sessions of this home, the last active first, live; and a dialog that begins a new one.

import { h, replace, setText, uid } from "../lib/dom.js";
import { count, many, shortPath } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { ageOf, badge, button, choice, dialog, field, loaded, nothing, problemBox } from "../lib/parts.js";
import { disposer } from "../lib/store.js";
import { seen } from "../text/shown.js";
import { statusOf } from "./session_words.js";

const PAGE = 50;
const FILTERS = [
  ["", "All"], ["busy", "At work"], ["waiting", "Waiting for you"], ["idle", "Idle"], ["error", "Failed"], ["terminated", "Closed"],
];

export const page = {
  path: ["/console", "/console/sessions", "/"],
  title: "Sessions",
  nav: { label: "Sessions", icon: "sessions", keys: "g s" },
  show(root, { query }, app) {
    const doing = disposer();
    const state = { status: query.get("status") ?? "", agent: query.get("agent") ?? "", q: query.get("q") ?? "", below: query.get("below") === "1", rows: new Map(), more: false };
    const list = h("ul.session-list", { "aria-label": "Sessions" });
    const foot = h("div.session-more");
    const said = h("p.only-heard", { role: "status" });
    const search = h("input", { type: "search", placeholder: "Find by title or words", "aria-label": "Find sessions", value: state.q });
    const agents = choice([["", "Every agent"]], "", (value) => change({ agent: value }), { "aria-label": "Agent" });
    const tabs = h("div.tabs", { role: "group", "aria-label": "Status" }, FILTERS.map(([value, label]) => h("button.tab", {
      type: "button", "aria-pressed": String(value === state.status), dataset: { value }, on: { click: () => change({ status: value }) },
    }, label)));
    const below = h("button.button.small", {
      type: "button", "aria-pressed": String(state.below), title: "Show sessions that work for others, too", on: { click: () => change({ below: !state.below }) },
    }, icon("branch", { size: 14 }), h("span", "Subagents"));
    replace(root, h("div.page-pad.sessions",
      h("div.page-head", h("h1", "Sessions"), button({ label: "New session", icon: "plus", kind: "main", action: () => begin(app) })),
      h("div.filters", h("div.search-box", icon("search", { size: 14 }), search), tabs, agents, below),
      said, list, foot));

    let timer = 0;
    let turn = 0;

    function change(with_) {
      Object.assign(state, with_);
      app.note({ status: state.status, agent: state.agent, q: state.q, below: state.below ? "1" : "" });
      below.setAttribute("aria-pressed", String(state.below));
      for (const tab of tabs.children) tab.setAttribute("aria-pressed", String(tab.dataset.value === state.status));
      ask();
    }

    async function ask(before = null) {
      turn += 1;
      const mine = turn;
      if (!before && !list.children.length) replace(list, h("li", { class: "session-skeleton" }, h("div.skeleton", [1, 2, 3, 4, 5, 6].map(() => h("span")))));
      const asked = { limit: PAGE, q: state.q, agent: state.agent, before };
      if (state.status && state.status !== "waiting") asked.status = state.status;
      try {
        const told = await app.api.get("/sessions", asked);
        if (mine !== turn || doing.over) return;
        if (!before) state.rows = new Map();
        for (const row of told.sessions) state.rows.set(row.id, row);
        state.more = told.more;
        draw();
      } catch (problem) {
        if (mine === turn && !doing.over) replace(list, h("li", problemBox(problem, () => ask())));
        if (!problem.code) throw problem;
      }
    }

    function fits(row) {
      const { status, agent } = state;
      if (agent && row.agent_id !== agent) return false;
      if (row.parent_id && !state.below && !state.q && !waits(row)) return false;
      if (status === "waiting") return waits(row) > 0;
      if (status === "terminated") return row.status === "terminated";
      return !status || row.reported === status;
    }

    function draw() {
      const rows = [...state.rows.values()].filter(fits).sort((one, other) => (one.updated_at < other.updated_at ? 1 : -1));
      const focused = document.activeElement?.closest?.(".session-row")?.dataset.id;
      const known = new Map([...list.children].filter((one) => one.dataset?.id).map((one) => [one.dataset.id, one]));
      const wanted = rows.map((row) => {
        const word = JSON.stringify(row);
        const before = known.get(row.id);
        return before?.dataset.word === word ? before : line(row, word);
      });
      if (wanted.length) {
        if (wanted.length !== list.children.length || wanted.some((one, at) => list.children[at] !== one)) list.replaceChildren(...wanted);
      } else replace(list, h("li", empty(state, app)));
      if (focused) list.querySelector(`[data-id="${CSS.escape(focused)}"] a`)?.focus({ preventScroll: true });
      setText(said, many(rows.length, "session"));
      replace(foot, state.more ? button({ label: "Show older ones", action: () => ask([...state.rows.values()].map((row) => row.updated_at).sort()[0]) }) : null);
    }

    search.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => change({ q: search.value.trim() }), 220);
    });
    doing.add(() => clearTimeout(timer));
    doing.add(app.server.watch((server) => {
      if (!server) return;
      replace(agents, [["", "Every agent"], ...server.agents.map((one) => [one.id, one.id])].map(([value, label]) => h("option", { value, selected: value === state.agent }, label)));
      agents.hidden = server.agents.length < 2;
    }));
    let first = true;
    doing.add(app.sessions.watch((rows) => {
      if (first) {
        first = false;
        return;
      }
      if (state.q) return;
      for (const row of rows.values()) state.rows.set(row.id, row);
      for (const id of state.rows.keys()) if (app.gone.has(id)) state.rows.delete(id);
      draw();
    }));
    const bind = (keys, label, action, options) => doing.add(app.keys.bind(keys, label, action, options));
    bind("n", "New session", () => { begin(app); });
    bind("/", "Find sessions", () => search.focus());
    bind("ArrowDown", "Next session", () => step(list, 1), { typing: false });
    bind("ArrowUp", "Session before", () => step(list, -1));
    bind("j", "", () => step(list, 1));
    bind("k", "", () => step(list, -1));
    bind("Escape", "", () => {
      if (document.activeElement !== search) return false;
      search.blur();
      return true;
    }, { typing: true });
    search.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "Enter") {
        event.preventDefault();
        step(list, 1);
      }
    });
    ask();
    return () => doing.dispose();
  },
};

function step(list, by) {
  const links = [...list.querySelectorAll("a.session-link")];
  if (!links.length) return false;
  const at = links.indexOf(document.activeElement);
  const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.max(0, Math.min(links.length - 1, at + by))];
  next.focus();
  return true;
}

function waits(row) {
  return (row.waiting?.approvals ?? 0) + (row.waiting?.questions ?? 0) + (row.waiting?.requests ?? 0);
}

function line(row, word) {
  const [status, tone] = statusOf(row);
  const { approvals = 0, questions = 0, requests = 0 } = row.waiting ?? {};
  const usage = (row.usage?.input_tokens ?? 0) + (row.usage?.output_tokens ?? 0);
  return h("li.session-row", { dataset: { id: row.id, word } },
    h("a.session-link", { href: `/console/sessions/${encodeURIComponent(row.id)}` },
      h("span.dot", { class: tone && `tone-${tone}` }),
      h("span.session-main",
        h("span.session-name", seen(row.title || "Session without a title")),
        h("span.session-sub",
          h("span", { class: `status-word tone-${tone || "none"}` }, status),
          row.agent_id ? h("span", row.agent_id) : null,
          row.model ? h("span.session-model", row.model.split("/").at(-1)) : null,
          row.workspace ? h("span.session-place", { title: row.workspace }, shortPath(row.workspace, 34)) : null,
          row.parent_id ? h("span", "subagent") : null)),
      h("span.session-side",
        approvals ? badge(many(approvals, "approval"), "warn") : null,
        questions ? badge(many(questions, "question"), "warn") : null,
        requests ? badge(many(requests, "request"), "warn") : null,
        row.children?.length ? h("span.faint.nowrap.session-children", { title: many(row.children.length, "subagent") }, icon("branch", { size: 12 }), row.children.length) : null,
        usage ? h("span.faint.nowrap.session-usage", `${count(usage)} tokens`) : null,
        ageOf(row.updated_at))));
}

function empty(state, app) {
  if (state.q || state.status || state.agent) return nothing("No session fits", "Other words or another status may find it.");
  return nothing("No sessions yet", "Give an agent a task, here or with `holdfast run`.", button({ label: "New session", icon: "plus", kind: "main", action: () => begin(app) }));
}

/** The dialog that begins a session. */
export function begin(app) {
  return dialog("New session", (body, close) => {
    const message = h("textarea", { rows: 4, placeholder: "What is to be done?" });
    loaded(body, async () => app.server.get() ?? app.api.get("/server"), (server) => {
      const starters = server.agents;
      const agent = choice(starters.map((one) => [one.id, one.description ? `${one.id}: ${one.description}` : one.id]), server.default_agent ?? starters[0]?.id ?? "");
      const names = uid("models");
      const model = h("input", { type: "text", list: names, placeholder: "As the agent has it", autocomplete: "off", spellcheck: "false" });
      const workspace = h("input", { type: "text", placeholder: server.project ?? server.workspace ?? "", spellcheck: "false" });
      const problem = h("div");
      const send = button({ label: "Begin", kind: "main", icon: "send", type: "submit" });
      const form = h("form.stack", {
        on: {
          submit: async (event) => {
            event.preventDefault();
            if (send.getAttribute("aria-busy") === "true") return;
            send.setAttribute("aria-busy", "true");
            try {
              const asked = { message: message.value.trim(), agent: agent.value === server.default_agent ? "" : agent.value, model: model.value.trim(), workspace: workspace.value.trim() };
              const row = await app.api.post("/sessions", Object.fromEntries(Object.entries(asked).filter(([, value]) => value)));
              close(row.id);
              app.go(`/console/sessions/${encodeURIComponent(row.id)}`);
            } catch (failure) {
              replace(problem, problemBox(failure));
              if (!failure.code) throw failure;
            } finally {
              send.removeAttribute("aria-busy");
            }
          },
        },
      },
      field("Message", message, { hint: "Ctrl+Enter begins." }),
      h("datalist", { id: names }, server.models.map((one) => h("option", { value: one }))),
      h("div.form-two", field("Agent", agent), field("Model", model, { hint: "One that is configured, or kind:model, e.g. scripted:turns.toml" })),
      field("Workspace", workspace, { hint: "A folder on this machine; empty: the server's own." }),
      problem,
      h("div.dialog-foot", button({ label: "Cancel", action: () => close() }), send));
      message.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
      });
      requestAnimationFrame(() => message.focus());
      return form;
    });
    return message;
  });
}
