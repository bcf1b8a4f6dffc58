// Events that are told in a line: what is said of each, or nothing. Pure.

import { firstLine } from "../lib/format.js";

const SILENT = new Set([
  "session.created", "session.status_changed", "session.events_processed", "span.started", "span.completed",
  "agent.equipped", "agent.bounded", "agent.chunk", "setup.described", "context.pruned",
]);

const LINES = {
  "user.interrupt": (event) => ({ tone: "warn", icon: "stop", text: event.note ? `Stopped by a person: ${event.note}` : "Stopped by a person" }),
  "session.status_idle": (event) => REST[event.reason] ?? (event.reason === "idle" ? null : { icon: "pause", text: `Rests: ${event.reason}` }),
  "session.closed": (event) => ({ icon: "stop", text: `Closed${event.reason ? `: ${event.reason}` : ""}` }),
  "wake.queued": (event) => ({ icon: "clock", text: `Will be run again: ${event.note || event.reason}`, until: event.due_at }),
  "wake.completed": (event) => (event.cancelled ? { icon: "clock", text: "A run that was queued was called off" } : null),
  "wake.deferred": (event) => ({
    tone: "warn", icon: "warning",
    text: event.until?.startsWith("9999") ? `Left alone until a person says something: ${event.reason}` : `Run again later, as a run failed: ${event.reason}`,
    until: event.until?.startsWith("9999") ? null : event.until,
  }),
  "agent.directive": (event) => ({
    icon: event.outcome === "continue" ? "play" : "pause",
    text: `${event.enforced_by_runtime ? "Put to sleep" : event.outcome === "continue" ? "Goes on" : "Sleeps"}: ${firstLine(event.summary)}`,
  }),
  "learning.captured": (event) => ({ icon: "memory", text: `Learned (${event.learning_kind}): ${event.title}`, detail: event.detail }),
  "shell.changed": (event) => ({
    icon: "terminal",
    text: [
      event.cwd ? `Commands run in ${event.cwd}` : null,
      event.set_env?.length ? `Variables set: ${event.set_env.map(([name]) => name).join(", ")}` : null,
      event.unset_env?.length ? `Variables removed: ${event.unset_env.join(", ")}` : null,
      event.withheld_env?.length ? `Variables that hold a secret: ${event.withheld_env.join(", ")}` : null,
      event.status ? `The persistent shell is ${event.status}` : null,
    ].filter(Boolean).join(" · ") || "The shell changed",
  }),
  "resource.staged": (event) => ({ icon: "copy", text: `Copied ${event.source_path} to ${event.target_path}` }),
  "resource.promoted": (event) => ({
    icon: "up", tone: event.overridden ? "warn" : "",
    text: event.restored_from ? `Brought back an older ${event.target_path}` : `Shared ${event.target_path} with all sessions of the agent`,
  }),
  "memory.promoted": (event) => ({ icon: "memory", tone: event.overridden ? "warn" : "", text: "Shared its notes with all sessions of the agent" }),
};

const REST = {
  requires_action: { icon: "question", tone: "warn", text: "Waits for a person" },
  rescheduling: { icon: "clock", text: "Rests, and goes on later" },
  terminated: { icon: "stop", text: "Ended" },
};

/** `{icon, text, tone?, detail?, until?}` for an event, or null where nothing is said of it. */
export function noticeOf(event) {
  if (SILENT.has(event.type)) return null;
  const line = LINES[event.type];
  if (line) return line(event);
  const { id, type, created_at, processed_at, wake_id, sequence, version, ...fields } = event;
  return { icon: "note", text: type, detail: JSON.stringify(fields, null, 2), raw: true };
}
