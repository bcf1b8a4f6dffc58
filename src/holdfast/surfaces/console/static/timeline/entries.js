// Entries of a timeline as elements: what people say, what the agent says and thinks, notices.

import { callCard, cardGone } from "../cards/card.js";
import { iconOf } from "../cards/summary.js";
import { h, replace } from "../lib/dom.js";
import { clock, count, duration, firstLine, many, moment } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { markdown, show } from "../lib/markdown_dom.js";
import { badge } from "../lib/parts.js";

const LONG = 1400;

/** Draw a row, into the element it had where there is one. */
export function drawRow(row, before, ctx) {
  const element = row.calls ? runOf(row, before, ctx) : MAKERS[row.entry.kind](row, before, ctx);
  element.classList.add("entry");
  element.setAttribute("tabindex", "-1");
  return element;
}

export function rowGone(element, row) {
  if (row.entry?.kind === "call") cardGone(element);
}

const MAKERS = { said, text: agentText, thought, call: callCard, notice, wake, problem, compaction, outcome, evaluation, child, asking };

function said({ entry }, before) {
  const root = before ?? h("article.said", { "aria-label": "A person said" });
  const body = h("div.said-text", entry.text);
  if (entry.text.length > LONG || entry.text.split("\n").length > 24) fold(body);
  return replace(root,
    h("span.entry-mark", { "aria-hidden": "true" }, icon("person")),
    h("div.said-body", body, entry.waiting ? h("p.faint.said-waiting", h("span.dot.tone-busy"), "not read yet") : null));
}

function agentText({ entry }, before) {
  if (before?.firstElementChild && entry.live) {
    show(before.querySelector(".markdown"), entry.text);
    lost(before, entry);
    return before;
  }
  const root = before ?? h("article.agent", { "aria-label": "The agent said" });
  const known = root.querySelector(".markdown");
  const body = known ?? h("div.markdown");
  show(body, entry.text);
  if (!known) replace(root, h("span.entry-mark.agent-mark", { "aria-hidden": "true" }, icon("agent")), body);
  root.classList.toggle("live", Boolean(entry.live));
  root.classList.toggle("broken", Boolean(entry.broken));
  lost(root, entry);
  return root;
}

function lost(root, entry) {
  root.querySelector(".agent-lost")?.remove();
  if (entry.lost && entry.live) root.append(h("p.faint.agent-lost", "Some pieces did not reach this window: the whole text follows."));
  else if (entry.broken) root.append(h("p.faint.agent-lost", "It was stopped here."));
}

function thought({ entry }, before, ctx) {
  const root = before ?? h("article.thought", { "aria-label": "The agent thought" });
  const open = ctx.opened.get(entry.key) ?? Boolean(entry.live);
  if (before?.dataset.open === String(open) && open) {
    show(before.querySelector(".markdown"), entry.text);
    before.classList.toggle("live", Boolean(entry.live));
    return before;
  }
  root.dataset.open = String(open);
  root.classList.toggle("live", Boolean(entry.live));
  const body = h("div.thought-body", { hidden: !open }, open ? markdown(entry.text) : null);
  const head = h("button.thought-head", { type: "button", "aria-expanded": String(open) },
    icon("brain", { size: 14 }), h("span", entry.live ? "Thinking" : "Thought"), h("span.thought-hint", open ? "" : firstLine(entry.text, 120)), icon("right", { size: 12 }));
  head.addEventListener("click", () => {
    ctx.opened.set(entry.key, !(ctx.opened.get(entry.key) ?? Boolean(entry.live)));
    root.dataset.open = "";
    thought({ entry }, root, ctx);
    root.querySelector("button").focus({ preventScroll: true });
  });
  return replace(root, head, body);
}

function notice({ entry }, before, ctx) {
  const root = before ?? h("article.notice");
  root.classList.toggle("tone-warn", entry.tone === "warn");
  const line = [icon(entry.icon ?? "note", { size: 14 }), h("span", entry.text), entry.until ? h("time.faint.nowrap", { datetime: entry.until, title: moment(entry.until) }, `at ${clock(entry.until)}`) : null];
  if (!entry.detail) return replace(root, h("p.notice-line", line));
  const details = h("details", { open: ctx.opened.get(entry.key) ?? false }, h("summary.notice-line", line), entry.raw ? h("pre.printed", entry.detail) : markdown(entry.detail));
  details.addEventListener("toggle", () => ctx.opened.set(entry.key, details.open));
  return replace(root, details);
}

function asking({ entry }, before) {
  return replace(before ?? h("article.asking"), h("p.notice-line", { role: "status" }, h("span.dot.tone-busy"),
    h("span", entry.purpose === "summary" ? "The conversation is being summarised" : "The model is being asked"),
    h("span.faint", { dataset: { since: entry.at } })));
}

const RESULTS = { error: ["failed", "bad"], blocked: ["waits", "warn"] };

function wake({ entry }, before) {
  const root = before ?? h("article.wake", { "aria-label": `Run ${entry.number}` });
  const taken = entry.ended ? duration(new Date(entry.ended) - new Date(entry.at)) : null;
  return replace(root, h("span.wake-line"), h("span.wake-text",
    h("time", { datetime: entry.at, title: moment(entry.at) }, clock(entry.at)), h("span", `Run ${entry.number}`),
    entry.reason ? h("span.cut", entry.reason) : null, taken ? h("span", taken) : null,
    RESULTS[entry.result] ? badge(RESULTS[entry.result][0], RESULTS[entry.result][1]) : null), h("span.wake-line"));
}

function problem({ entry }, before) {
  return replace(before ?? h("article.problem", { role: "group", "aria-label": "A problem" }), icon("error"),
    h("div", h("p", h("strong", entry.title)), h("p", entry.text), entry.next ? h("p.problem-next", entry.next) : null));
}

function compaction({ entry }, before, ctx) {
  const root = before ?? h("article.compaction");
  const details = h("details", { open: ctx.opened.get(entry.key) ?? false },
    h("summary.notice-line", icon("compress", { size: 14 }), h("span", entry.automatic ? "Compacted: the model is told a summary of what came before" : "Compacted by wish: the model is told a summary of what came before")),
    markdown(entry.summary));
  details.addEventListener("toggle", () => ctx.opened.set(entry.key, details.open));
  return replace(root, details);
}

function outcome({ entry }, before) {
  const { title, detail, success_criteria: criteria } = entry.outcome ?? {};
  return replace(before ?? h("article.outcome", { "aria-label": "What is to come of it" }),
    h("p.outcome-head", icon("target"), h("strong", title ?? "")), detail ? h("p.dim", detail) : null,
    criteria?.length ? h("ul", criteria.map((one) => h("li", one))) : null);
}

const GRADES = { pass: "ok", fail: "bad", blocked: "warn", not_ready: "", uncertain: "warn", missing_outcome: "" };

function evaluation({ entry }, before) {
  const { evaluation: made, iteration } = entry.record ?? {};
  return replace(before ?? h("article.notice"), h("p.notice-line", icon("target", { size: 14 }),
    badge(String(made?.status ?? "").replaceAll("_", " "), GRADES[made?.status] ?? ""), h("span", made?.summary ?? ""),
    made?.trend && iteration ? h("span.faint", made.trend.replaceAll("_", " ")) : null));
}

const CHILD = { working: ["works", "busy"], waits: ["waits for a person", "warn"], rested: ["rested", "ok"], requires_action: ["waits for a person", "warn"] };

function child({ entry }, before) {
  const [said_, tone] = CHILD[entry.state] ?? [entry.state, ""];
  return replace(before ?? h("article.child", { "aria-label": "Subagent" }),
    h("p.child-head", icon("branch"), h("a", { href: `/console/sessions/${entry.id}` }, entry.title || firstLine(entry.message, 90) || "Subagent"), badge(said_, tone),
      entry.usage?.input_tokens ? h("span.faint", `${count(entry.usage.input_tokens + (entry.usage.output_tokens ?? 0))} tokens`) : null),
    entry.summary ? h("p.dim.child-text", firstLine(entry.summary, 280)) : null);
}

/** Calls that went well, folded into one line. */
function runOf(row, before, ctx) {
  const root = before ?? h("article.run");
  root.classList.toggle("joined", Boolean(row.joined));
  const names = new Map();
  for (const call of row.calls) names.set(call.tool, (names.get(call.tool) ?? 0) + 1);
  const focused = before?.contains(document.activeElement);
  const head = h("button.run-head", { type: "button", "aria-expanded": String(row.open), on: { click: () => ctx.toggleRun(row.key) } },
    h("span.run-icons", [...names.keys()].slice(0, 5).map((name) => icon(iconOf(name), { size: 14 }))),
    h("span", many(row.calls.length, "call")),
    h("span.run-names", [...names].map(([name, times]) => (times > 1 ? `${name} ×${times}` : name)).join(", ")),
    h("span.card-mark.tone-ok", icon("check", { label: "all done" })), h("span.card-turn", icon("right", { size: 12 })));
  replace(root, head);
  if (focused) head.focus({ preventScroll: true });
  return root;
}

function fold(body) {
  body.classList.add("folded");
  const more = h("button.fold-more", { type: "button" }, "Show all");
  more.addEventListener("click", () => body.classList.remove("folded") || more.remove());
  body.append(more);
}
