// One call as a card: a head that says what it is and how it went, and a body that opens.

import { h, replace } from "../lib/dom.js";
import { clock, duration, moment } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { codeBlock } from "../lib/markdown_dom.js";
import { badge } from "../lib/parts.js";
import { waitingHere } from "../review/in_session.js";
import { seen } from "../text/shown.js";
import { bodyOf, warnings } from "./bodies.js";
import { failureWords } from "./failure.js";
import { cameOf, iconOf, mainArgument, STATES } from "./summary.js";
import { commandLine, liveTail } from "./terminal.js";

const RUNNING = new Set(["running", "asked"]);
const lives = new WeakMap();

/** Draw a call, into the element it had before where there is one. */
export function callCard(row, before, ctx) {
  const { entry } = row;
  const article = before ?? h("article.card", { tabindex: "-1" });
  const focused = before?.contains(document.activeElement) && document.activeElement !== before ? document.activeElement : null;
  article.dataset.state = entry.state;
  article.classList.toggle("joined", Boolean(row.joined));
  article.classList.toggle("inside", Boolean(row.inside));
  const settled = entry.ok !== null;
  const made = settled ? bodyOf(entry, ctx) : underway(entry, ctx, article);
  if (settled) stopLive(article);
  const open = ctx.opened.get(entry.key) ?? made.open;
  const body = h("div.card-body", { hidden: !open, id: `body-${entry.key}` }, open ? [made.body, details(entry, ctx)] : null);
  const head = h("button.card-head", { type: "button", "aria-expanded": String(open), "aria-controls": body.id },
    h("span.card-icon", icon(iconOf(entry.tool))),
    h("span.card-tool", entry.tool || "call"),
    h("span.card-main", seen(mainArgument(entry))),
    h("span.card-meta", entry.retryOf ? badge("retry") : null, made.meta, settled && entry.ok ? h("span.faint.nowrap", cameOf(entry)) : null, timeOf(entry), stateMark(entry)),
    h("span.card-turn", icon("right", { size: 12 })));
  head.addEventListener("click", () => {
    const now = body.hidden;
    ctx.opened.set(entry.key, now);
    if (now && !body.childNodes.length) replace(body, made.body, details(entry, ctx));
    body.hidden = !now;
    head.setAttribute("aria-expanded", String(now));
  });
  article.setAttribute("aria-label", `${entry.tool}, ${STATES[entry.state]?.[0] ?? entry.state}`);
  replace(article, head, body);
  // Whoever writes an answer goes on writing: its form is the same element as before.
  if (focused) (focused.isConnected ? focused : head).focus({ preventScroll: true });
  return article;
}

/** Let go of what a card follows. */
export function cardGone(article) {
  stopLive(article);
}

function stopLive(article) {
  lives.get(article)?.dispose();
  lives.delete(article);
}

/** What is shown of a call that has no answer yet. */
function underway(entry, ctx, article) {
  const command = ctx.commandOf(entry.id);
  let live = lives.get(article);
  if (command && live?.command !== command.id) {
    stopLive(article);
    live = liveTail(command, ctx);
    lives.set(article, live);
  }
  const parts = [
    entry.arguments?.command && entry.state !== "waiting" ? h("div.terminal", commandLine(entry.arguments.command, entry.arguments.workdir ?? entry.arguments.cwd), live?.root) : live?.root ?? null,
    entry.progress && !live ? progressLine(entry.progress) : null,
    entry.state === "waiting" && entry.approval ? waitingHere(ctx, "approvals", entry.approval.id) : null,
    entry.state === "inquiring" ? waitingHere(ctx, "questions", entry.id) : null,
    entry.state === "outside" ? h("p.pad.dim", "The application that opened this session has to give the result of this call.") : null,
    entry.child ? childLine(entry, ctx) : null,
  ];
  return { body: parts.some(Boolean) ? h("div", parts) : null, meta: null, open: parts.some(Boolean) };
}

function childLine(entry, ctx) {
  const child = ctx.childOf?.(entry.child);
  return h("p.pad.row", icon("branch", { size: 14 }), h("a", { href: `/console/sessions/${entry.child}` }, "Session of the subagent"), child?.state ? badge(child.state, child.state === "waits" ? "warn" : "busy") : null);
}

function progressLine({ message, done, total }) {
  const share = total ? ` (${Math.round((100 * (done ?? 0)) / total)}%)` : "";
  return h("p.progress", { role: "status" }, message ? h("pre", message) : null, share ? h("progress", { value: done ?? 0, max: total }) : null);
}

function timeOf(entry) {
  const taken = entry.envelope?.metadata?.duration_ms;
  if (taken !== undefined && taken !== null) return h("span.faint.nowrap", { title: moment(entry.at) }, duration(taken));
  if (!RUNNING.has(entry.state) || !entry.startedAt) return null;
  return h("span.faint.nowrap", { dataset: { since: entry.startedAt } });
}

function stateMark(entry) {
  const [said, tone] = STATES[entry.state] ?? [entry.state, ""];
  if (entry.state === "done") return h("span.card-mark.tone-ok", icon("check", { label: said }));
  if (entry.state === "failed") return h("span.card-mark.tone-bad", h("span.card-fail", failureWords(entry)), icon("cross", { label: said }));
  return h("span.card-mark", badge(said, tone), tone === "busy" ? h("span.dot.tone-busy") : null);
}

/** Why it ran, who allowed it, what was repaired, and the bare words of call and answer. */
function details(entry, ctx) {
  const { approval, inquiry } = entry;
  const lines = [
    entry.grounds ? ["Policy", entry.grounds] : null,
    entry.refused ? ["Refused", entry.refused.reason] : null,
    approval && approval.allowed !== null && approval.allowed !== undefined
      ? [approval.allowed ? "Allowed" : "Denied", [`by ${approval.by ?? "nobody who was there"}`, approval.remember && approval.remember !== "once" ? `for the ${approval.remember}` : null, approval.note].filter(Boolean).join(", ")] : null,
    approval?.withdrawn ? ["Question withdrawn", approval.withdrawn] : null,
    inquiry?.answers ? ["Answered", inquiry.skipped ? `${inquiry.by} would not say` : inquiry.answers.map((one) => one.join(", ")).join(" · ")] : null,
    entry.repairs?.length ? ["Repaired", entry.repairs.map((one) => `${one.field || "arguments"}: ${one.repair.replaceAll("_", " ")}`).join(", ")] : null,
    entry.child ? ["Subagent", h("a", { href: `/console/sessions/${entry.child}` }, entry.child)] : null,
    entry.at ? ["Asked", h("time", { datetime: entry.at, title: moment(entry.at) }, clock(entry.at))] : null,
  ].filter(Boolean);
  const raw = h("details.raw", h("summary", "Call and answer as JSON"));
  raw.addEventListener("toggle", () => {
    if (!raw.open || raw.children.length > 1) return;
    raw.append(codeBlock(pretty(entry.arguments ?? entry.rawArguments), "json"), entry.envelope ? codeBlock(pretty(entry.envelope), "json") : "");
  });
  const list = (all) => (all.length ? h("dl", all.map(([name, value]) => h("div", h("dt", name), h("dd", value)))) : null);
  const told = lines.filter(([name]) => !QUIET.has(name));
  return h("div.card-details",
    entry.ok === false ? warnings(entry.envelope) : null,
    list(told),
    h("details.more", h("summary", "Details"), list(lines.filter(([name]) => QUIET.has(name))), raw));
}

/** Said only to whoever asks: most calls have nothing else to tell. */
const QUIET = new Set(["Policy", "Asked", "Refused"]);

function pretty(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
