// How a session stands, in a word and a tone.

import { h } from "../lib/dom.js";
import { badge } from "../lib/parts.js";

const STATUS = {
  idle: ["idle", ""],
  busy: ["works", "busy"],
  retrying: ["will go on", "busy"],
  waiting_on_approval: ["waits for approval", "warn"],
  waiting_on_user_input: ["waits for a result", "warn"],
  error: ["failed", "bad"],
  terminated: ["closed", ""],
};

/** `[word, tone]` of a row. */
export function statusOf(row) {
  if (row.left) return ["left behind", "warn"];
  if (row.waiting?.questions && row.reported !== "busy") return ["asks a question", "warn"];
  if (row.reported === "waiting_on_approval" && row.waiting && !row.waiting.approvals) return ["waits for you", "warn"];
  return STATUS[row.reported] ?? [String(row.reported ?? row.status).replaceAll("_", " "), ""];
}

export function statusBadge(row) {
  const [word, tone] = statusOf(row);
  return badge([h("span.dot", { class: tone && `tone-${tone}` }), word], tone);
}

export function isAtWork(row) {
  return row.status === "running" || row.reported === "busy";
}
