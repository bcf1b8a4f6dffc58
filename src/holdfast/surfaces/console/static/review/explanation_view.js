/** What policy says of a call, use by use: the verdict, who decided, what else fits, what would change it. */

import { h } from "../lib/dom.js";
import { badge } from "../lib/parts.js";
import { seen } from "../text/shown.js";

const TONES = { allow: "ok", ask: "warn", deny: "bad" };
const WORDS = { allow: "It runs", ask: "A person is asked", deny: "It is refused" };
const LAYERS = {
  capabilities: "by what is within reach",
  rules: "by the rules",
  watchdog: "by the watchdog",
  tool: "by the tool, which always asks",
};

/** The whole explanation. */
export function explanationView(told) {
  return h("div.explanation",
    h("p.verdict", { class: `tone-${TONES[told.verdict] ?? "bad"}` },
      h("strong", WORDS[told.verdict] ?? told.verdict), h("span", ` ${LAYERS[told.stage] ?? told.stage}`)),
    h("p", seen(told.reason)),
    told.unattended !== told.verdict
      ? h("p.hint", `Where nobody is there: ${(WORDS[told.unattended] ?? told.unattended).toLowerCase()}.`) : null,
    told.uses.length > 0 ? h("ol.explained-uses", told.uses.map(useView)) : null);
}

/** What came before any judgement: the arguments do not fit, or there is no such tool. */
export function notJudged(failure) {
  return h("div.explanation",
    h("p.verdict.tone-bad", h("strong", "Not even judged"), h("span", ` ${failure.kind ?? ""}`)),
    h("p", seen(failure.message)));
}

function useView(use) {
  return h("li.explained-use",
    h("div.row.wrap",
      use.verdict ? badge(use.verdict, TONES[use.verdict]) : badge("not judged"),
      h("span.use-what", use.capability ?? "the call itself"),
      use.target ? h("code", seen(use.target)) : null),
    h("dl.small-members",
      use.doubt ? line("In doubt", seen(use.doubt)) : null,
      use.within_reach ? null : line("Reach", "outside of it"),
      line("Decided by", use.decided_by ? ruleView(use.decided_by) : use.within_reach && use.verdict ? "no rule" : null),
      use.also_fitting.length > 0 ? line("Also fits", use.also_fitting.map((rule) => h("div", ruleView(rule)))) : null,
      use.spellings.length > 0 ? line("Also written", use.spellings.map((one, at) => [at ? ", " : "", h("code", seen(one))])) : null,
      use.otherwise ? line("Otherwise", seen(use.otherwise)) : null));
}

function line(name, value) {
  return value === null ? null : h("div", h("dt", name), h("dd", value));
}

/** A rule in one line. */
export function ruleView(rule) {
  return h("span.rule",
    h("code", seen(`${rule.permission} ${JSON.stringify(rule.pattern)}`)), " ",
    badge(rule.action, TONES[rule.action]), " ",
    h("span.faint", seen(`${rule.remembered ? "remembered" : rule.scope}, ${rule.source}`)),
    rule.reason ? h("span", seen(` ${rule.reason}`)) : null);
}
