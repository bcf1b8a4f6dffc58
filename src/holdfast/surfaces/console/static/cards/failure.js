// A failed call: what kind of failure, what happened, what helps.

import { h } from "../lib/dom.js";
import { badge } from "../lib/parts.js";
import { codeBlock } from "../lib/markdown_dom.js";
import { commandLine, printed, wholeOutput } from "./terminal.js";

const KINDS = {
  invalid_args: "Arguments do not fit",
  rejected: "Refused by policy",
  user_denied: "Denied by a person",
  timeout: "Ran out of time",
  execution_error: "Failed",
  not_found: "Not found",
  unavailable: "Not available now",
  tool_not_found: "No such tool",
};
const KNOWN = new Set(["ok", "kind", "message", "field", "expected", "tool", "retryable", "metadata", "warnings", "reason", "stdout", "stderr", "exit_code", "result", "hint"]);

export function failureWords(entry) {
  return KINDS[entry.envelope?.kind] ?? "Failed";
}

export function failureBody(entry, ctx) {
  const envelope = entry.envelope ?? {};
  const extras = Object.fromEntries(Object.entries(envelope).filter(([name]) => !KNOWN.has(name)));
  const command = entry.arguments?.command;
  return h("div.failure",
    command ? h("div.terminal", commandLine(command, entry.arguments?.workdir ?? entry.arguments?.cwd)) : null,
    h("div.failure-text",
      h("p.failure-head", h("strong", failureWords(entry)), envelope.field ? h("span.dim", "argument ", h("code", envelope.field)) : null,
        envelope.reason ? badge(String(envelope.reason).replaceAll("_", " ")) : null),
      h("p.failure-message", envelope.message ?? entry.refused?.reason ?? ""),
      envelope.expected ? h("p.dim", "Expected: ", h("span", envelope.expected)) : null,
      typeof envelope.hint === "string" ? h("p", envelope.hint) : null,
      h("p.faint.failure-next", nextStep(envelope))),
    envelope.stdout ? h("div.terminal", printed(envelope.stdout)) : null,
    envelope.stderr ? h("div.terminal", printed(envelope.stderr, { tone: "error", label: "Error output" })) : null,
    Object.keys(extras).length ? codeBlock(JSON.stringify(extras, null, 2), "json") : null,
    wholeOutput(envelope.metadata, ctx));
}

function nextStep(envelope) {
  if (envelope.kind === "rejected") return "Try the call in the workbench, or see the rules under Policy, to learn what would admit it.";
  if (envelope.kind === "user_denied") return "A person said no; the agent was told.";
  return envelope.retryable ? "The agent may try again." : "Trying the same again would not help.";
}
