/** One entry of a timeline, told briefly: a recording is looked through, not lived in. */

import { h } from "../lib/dom.js";
import { clock, firstLine } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { badge } from "../lib/parts.js";
import { resultView } from "../review/envelope_view.js";
import { argumentsView, foldable, seen } from "../text/shown.js";

const STATES = {
  writing: ["is written", "busy"], planned: ["planned", ""], asked: ["asked", "busy"], waiting: ["waits for leave", "warn"],
  running: ["runs", "busy"], inquiring: ["asks a person", "warn"], outside: ["waits for the application", "warn"],
  done: ["ok", "ok"], failed: ["failed", "bad"],
};

/** What stood there then; kinds that are not known are told by their name. */
export function entryView(entry) {
  const made = (VIEWS[entry.kind] ?? other)(entry);
  return h(`article.then.then-${entry.kind}`, { dataset: { sequence: entry.sequence } }, made);
}

const VIEWS = {
  said: (entry) => [head("person", "A person", entry), foldable(entry.text ?? "", 8)],
  text: (entry) => [head("agent", entry.broken ? "The agent, broken off" : "The agent", entry), foldable(entry.text ?? "", 12)],
  thought: (entry) => [h("details.why", h("summary", "What it thought"), foldable(entry.text ?? "", 20))],
  call,
  wake: (entry) => [h("p.then-line", icon("play"), `Run ${entry.number}`, entry.reason ? h("span.faint", seen(firstLine(entry.reason))) : null,
    entry.result ? badge(entry.result, entry.result === "success" ? "ok" : "bad") : badge("under way", "busy"))],
  notice: (entry) => [h("p.then-line", icon(entry.icon ?? "note"), h("span", seen(entry.text ?? "")))],
  problem: (entry) => [h("p.then-line", icon("error"), h("span", seen(entry.title ?? ""))), h("p.said-failure", seen(entry.text ?? ""))],
  child: (entry) => [h("p.then-line", icon("branch"), h("a", { href: `/console/sessions/${encodeURIComponent(entry.id)}` }, seen(entry.title || entry.id)), badge(entry.state ?? ""), h("span.cut", seen(firstLine(entry.summary || entry.message || ""))))],
};

function head(picture, name, entry) {
  return h("p.then-head", icon(picture), h("strong", name), entry.at ? h("span.faint", clock(entry.at)) : null, entry.waiting ? badge("not read yet", "warn") : null);
}

function call(entry) {
  const [word, tone] = STATES[entry.state] ?? [entry.state, ""];
  return [
    h("p.then-head", icon("tools"), h("code", seen(entry.tool)), badge(word, tone), entry.at ? h("span.faint", clock(entry.at)) : null),
    argumentsView(entry.rawArguments || "{}"),
    entry.approval?.reason && entry.state === "waiting" ? h("p.caution", seen(entry.approval.reason)) : null,
    entry.envelope === null || entry.envelope === undefined ? null
      : entry.envelope.ok ? resultView(entry.envelope.result) : h("p.said-failure", seen(entry.envelope.message ?? "")),
  ];
}

function other(entry) {
  return [h("p.then-line", icon("note"), entry.kind, " ", h("span.cut", seen(firstLine(entry.title ?? entry.text ?? entry.summary ?? entry.outcome?.title ?? ""))))];
}
