// The head of a session: who works on it with what, how it goes, what it cost, what can be done.

import { part } from "../lib/api.js";
import { todoCount, todoList } from "../cards/bodies.js";
import { h, replace } from "../lib/dom.js";
import { bytes, count, many, shortPath } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { ageOf, badge, button, confirmed, dialog, gauge, loaded, nothing } from "../lib/parts.js";
import { treeView } from "../review/tree_view.js";
import { seen } from "../text/shown.js";
import { statusBadge } from "./session_words.js";

export function makeHead(ctx) {
  const { app, session } = ctx;
  const title = h("h1.session-title");
  const status = h("span.session-status");
  const above = h("div.session-above");
  const facts = h("div.session-facts");
  const gauges = h("div.session-gauges");
  const todos = h("details.session-todos", { hidden: true });
  const lost = h("span.badge.tone-warn", { hidden: true, role: "status" }, "Reconnecting");
  const actions = h("div.session-actions");
  const root = h("header.session-head",
    above,
    h("div.session-line", title, status, lost, actions),
    facts,
    h("div.row.wrap.session-under", gauges, todos));
  let told = { facts: null, row: null };
  /** What is done lies over the timeline only as long as somebody looks at it. */
  const elsewhere = (event) => {
    if (todos.open && !todos.contains(event.target)) todos.open = false;
  };
  todos.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !todos.open) return;
    event.preventDefault();
    todos.open = false;
    todos.querySelector("summary").focus();
  });
  document.addEventListener("pointerdown", elsewhere);
  let drawnTodos = "";

  replace(actions,
    button({ label: "Files", icon: "folder", kind: "quiet", small: true, action: () => files(ctx) }),
    h("a.button.quiet.small", { href: `/console/sessions/${part(session)}/replay`, title: "Step through it as it happened" }, icon("replay"), h("span", "Replay")),
    button({ label: "Tree", icon: "branch", kind: "quiet", small: true, action: () => tree(ctx) }),
    button({ label: "Delete session", icon: "trash", kind: "quiet", small: true, bare: true, action: () => remove(ctx) }));

  function draw(row) {
    told.row = row;
    replace(title, seen(row.title || "Session"));
    title.title = row.title || "";
    replace(status, statusBadge(row));
    replace(above, row.parent_id
      ? h("a", { href: `/console/sessions/${row.parent_id}` }, icon("left", { size: 12 }), "Session above")
      : h("a", { href: "/console" }, icon("left", { size: 12 }), "Sessions"));
    const usage = row.usage ?? {};
    replace(facts, [
      fact("agent", row.agent_id || "no agent", "Agent"),
      row.model ? fact("brain", row.model.split("/").at(-1), `Model ${row.model}`) : null,
      row.profile ? fact("shield", row.profile, "Profile") : null,
      row.workspace ? fact("folder", shortPath(row.workspace, 36), `Workspace ${row.workspace}`) : null,
      usage.input_tokens || usage.output_tokens
        ? fact("chart", `${count(usage.input_tokens)} in, ${count(usage.output_tokens)} out`, usageWords(usage)) : null,
      row.turns ? h("span.fact", many(row.turns, "turn")) : null,
      h("span.fact", ageOf(row.updated_at)),
    ]);
    drawGauges();
  }

  function drawGauges() {
    const { row, facts: known } = told;
    const outcome = row?.outcome;
    const evaluated = known?.evaluated?.evaluation;
    const wanted = outcome?.title ?? known?.outcome?.title;
    const pressure = row?.pressure ?? known?.pressure;
    const level = pressure?.level;
    replace(gauges,
      wanted ? h("span.gauge-line", { title: evaluated?.summary ?? wanted }, icon("target", { size: 14 }), h("span.cut.outcome-title", wanted),
        badge(String(outcome?.status ?? evaluated?.status ?? "open").replaceAll("_", " "), OUTCOMES[outcome?.status ?? evaluated?.status] ?? ""),
        TRENDS[outcome?.trend ?? evaluated?.trend]?.() ?? null) : null,
      level ? h("span.gauge-line", { title: (pressure.reasons ?? []).join(" ") }, h("span.faint", "Context"),
        gauge(shareOf(pressure, known?.budget), `Context pressure: ${level}`, LEVELS[level] ?? ""), h("span.faint", contextWords(level, known?.budget))) : null);
  }

  return {
    root,
    draw,
    facts(known) {
      told.facts = known;
      const list = known.todos ?? [];
      const word = JSON.stringify(list);
      if (word !== drawnTodos) {
        drawnTodos = word;
        todos.hidden = !list.length;
        const now = list.find((one) => one.status === "in_progress");
        replace(todos, h("summary", icon("list", { size: 14 }), todoCount(list), now ? h("span.cut", now.active_form || now.content) : null), h("div.todos-pop", todoList(list)));
      }
      drawGauges();
    },
    link(state, detail) {
      // A stream begins anew with "connecting" while it is still lost: only an open one is well.
      if (state === "open") lost.hidden = true;
      else if (state !== "connecting") lost.hidden = false;
      lost.textContent = state === "refused" ? "Not live any more" : "Reconnecting";
      lost.title = state === "refused" ? detail?.message ?? "" : "The server does not answer; it is tried again.";
    },
    dispose: () => document.removeEventListener("pointerdown", elsewhere),
    session,
    app,
  };
}

const OUTCOMES = { pass: "ok", done_candidate: "ok", fail: "bad", blocked: "warn", not_ready: "busy", in_progress: "busy", uncertain: "warn" };
const TRENDS = {
  improving: () => h("span.trend.tone-ok", { title: "improving" }, icon("up", { size: 12, label: "improving" })),
  regressing: () => h("span.trend.tone-bad", { title: "regressing" }, icon("down", { size: 12, label: "regressing" })),
};
const LEVELS = { low: "ok", moderate: "warn", high: "bad" };
const SHARES = { low: 0.25, moderate: 0.6, high: 0.92 };

function shareOf(pressure, budget) {
  const { estimated_total_runtime_tokens: used, window_tokens: most } = budget ?? {};
  return used && most ? used / most : SHARES[pressure.level] ?? 0;
}

/** `low, 3% of 128k tokens`, as far as it is known. */
function contextWords(level, budget) {
  const { estimated_total_runtime_tokens: used, window_tokens: most } = budget ?? {};
  return used && most ? `${level}, ${Math.round((100 * used) / most)}% of ${count(most)} tokens` : level;
}

function usageWords(usage) {
  return Object.entries(usage).filter(([, value]) => value).map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`).join("\n");
}

function fact(name, value, title) {
  return h("span.fact", { title }, icon(name, { size: 14 }), h("span.cut", value));
}

async function remove(ctx) {
  const sure = await confirmed("Delete this session?", "Its journal and its files go for good. This cannot be taken back.", "Delete");
  if (!sure) return;
  try {
    await ctx.app.api.del(`/sessions/${part(ctx.session)}`);
    ctx.app.toast("The session was deleted", { tone: "ok" });
    ctx.app.go("/console");
  } catch (problem) {
    ctx.app.problem(problem);
  }
}

function files(ctx) {
  dialog("Files of this session", (body) => {
    loaded(body, () => ctx.app.api.get(`/sessions/${part(ctx.session)}/files`), ({ files: all }) => (all.length
      ? h("ul.file-list", all.map((file) => h("li",
        icon(file.media_type?.startsWith("image/") ? "image" : "file"),
        h("a.mono.grow.cut", { href: ctx.fileUrl(file.name), target: "_blank", rel: "noopener", title: file.name }, file.name),
        h("span.faint.nowrap", bytes(file.bytes)))))
      : nothing("No files", "Artifacts, whole outputs and logs of jobs are listed here.")));
  }, { wide: true });
}

function tree(ctx) {
  dialog("Sessions of this work", (body, close) => {
    loaded(body, () => ctx.app.api.get(`/sessions/${part(ctx.session)}/tree`), (found) => treeView(found, {
      choose: () => {
        close();
        return false;
      },
    }));
  }, { wide: true });
}
