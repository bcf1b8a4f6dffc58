/** The answer of a call, whole: what it gave or why not, what was repaired, what it took. */

import { h } from "../lib/dom.js";
import { bytes, duration, many } from "../lib/format.js";
import { badge } from "../lib/parts.js";
import { write } from "../text/json_text.js";
import { foldable, jsonBlock, seen } from "../text/shown.js";

const KINDS = {
  invalid_args: "the arguments do not fit",
  rejected: "refused by policy",
  user_denied: "refused by a person",
  timeout: "it took too long",
  execution_error: "it ran and failed",
  not_found: "there is no such thing",
  unavailable: "it cannot run now",
  tool_not_found: "there is no such tool",
};
const RESERVED = new Set(["ok", "kind", "message", "field", "expected", "tool", "retryable", "metadata", "warnings"]);

/** An envelope in the default form. */
export function envelopeView(envelope) {
  const metadata = envelope.metadata ?? {};
  return h("section.envelope", { class: envelope.ok ? "well" : "failed", "aria-label": "The answer" },
    h("header.row.wrap",
      envelope.ok ? badge("ok", "ok") : badge(envelope.kind ?? "failed", "bad"),
      envelope.ok ? null : h("span.dim", KINDS[envelope.kind] ?? ""),
      metadata.duration_ms === undefined ? null : h("span.faint", duration(metadata.duration_ms)),
      metadata.truncated ? badge("cut", "warn") : null,
      envelope.ok || envelope.retryable === undefined ? null : h("span.faint", envelope.retryable ? "may be tried again" : "trying again does not help")),
    envelope.ok ? resultView(envelope.result) : failureView(envelope),
    (envelope.warnings ?? []).map((warning) => h("p.caution", seen(warning))),
    metadata.tail ? h("section", h("h3", "Its end"), foldable(metadata.tail)) : null,
    measured(metadata));
}

/** Texts of a result as they are, the rest as JSON. */
export function resultView(result) {
  if (typeof result === "string") return foldable(result);
  if (result === null || typeof result !== "object" || Array.isArray(result)) return jsonBlock(write(result), { label: "Result" });
  const long = Object.entries(result).filter(([, value]) => typeof value === "string" && (value.includes("\n") || value.length > 120));
  const rest = Object.fromEntries(Object.entries(result).filter(([name]) => !long.some(([one]) => one === name)));
  return h("div.stack",
    Object.keys(rest).length > 0 || long.length === 0 ? jsonBlock(write(rest), { label: "Result" }) : null,
    long.map(([name, value]) => h("section", h("h3", h("code", seen(name))), foldable(value))));
}

function failureView(envelope) {
  const extras = Object.fromEntries(Object.entries(envelope).filter(([name]) => !RESERVED.has(name)));
  return h("div.stack",
    h("p.said-failure", seen(envelope.message ?? "")),
    envelope.field ? h("p", "Argument ", h("code", seen(envelope.field)), envelope.expected ? [": expected ", seen(envelope.expected)] : null) : null,
    Object.keys(extras).length > 0 ? jsonBlock(write(extras), { label: "More about it" }) : null);
}

function measured(metadata) {
  const repairs = metadata.repairs ?? [];
  const count = metadata.repair_count ?? repairs.length;
  const lines = [
    count > 0 ? h("li", `${many(count, "repair")}: `, repairs.map((one, at) => [at ? ", " : "", h("code", seen(one.repair)), one.field ? [" at ", h("code", seen(one.field))] : null, one.was ? [" (was ", h("code", seen(one.was)), ")"] : null])) : null,
    metadata.output_bytes === undefined ? null : h("li", `The whole output has ${bytes(metadata.output_bytes)}`, metadata.dropped_bytes ? `; ${bytes(metadata.dropped_bytes)} of it are kept nowhere` : null),
    metadata.output_path ? h("li", "Kept in ", h("code", seen(metadata.output_path))) : null,
  ].filter(Boolean);
  return lines.length > 0 ? h("ul.measured", lines) : null;
}
