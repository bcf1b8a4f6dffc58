// What stands in the head of a call's card: its picture, its main argument, what came of it. Pure.

import { firstLine, many } from "../lib/format.js";

const ICONS = [
  [/^(read|file_read|sandbox_read_file|view_image)$/, "file"], [/^(write|edit|apply_patch|sandbox_write_file)$/, "edit"],
  [/^(bash|shell_run|shell_exec|sandbox_exec|sandbox_process|shell_\w+)$/, "terminal"], [/^(glob|grep|sandbox_search_files|\w*search\w*)$/, "search"],
  [/^web_/, "globe"], [/^todo$/, "list"], [/^(task|session_\w+)$/, "branch"], [/^(question|clarify|plan_exit)$/, "question"],
  [/^render_chart$/, "chart"], [/^share_artifact$/, "download"], [/^(memory|learning)\w*/, "memory"], [/^(outcome)\w*/, "target"], [/^permission\w*/, "shield"],
];
const MAIN = ["command", "path", "pattern", "query", "url", "name", "title", "question", "message", "description", "prompt", "filename", "session_id", "action", "pid", "summary"];

export function iconOf(tool) {
  return ICONS.find(([pattern]) => pattern.test(tool))?.[1] ?? "tools";
}

/** The argument that says most, in a line. */
export function mainArgument(entry) {
  const given = entry.arguments;
  if (!given) return firstLine(entry.state === "writing" ? lastOf(entry.rawArguments) : entry.rawArguments, 200);
  if (entry.tool === "todo" && Array.isArray(given.todos)) {
    const now = given.todos.find((one) => one.status === "in_progress");
    return now ? now.active_form || now.content : many(given.todos.length, "thing to do", "things to do");
  }
  if (entry.tool === "question" && Array.isArray(given.questions)) return firstLine(given.questions[0]?.question ?? "");
  if (entry.tool === "apply_patch" && typeof given.patch === "string") return patchPaths(given.patch).join(", ");
  for (const name of MAIN) if (typeof given[name] === "string" && given[name]) return firstLine(given[name], 200);
  const [name, value] = Object.entries(given)[0] ?? [];
  if (name === undefined) return "";
  return `${name}: ${firstLine(typeof value === "string" ? value : JSON.stringify(value), 160)}`;
}

function lastOf(text) {
  return text.length > 160 ? `…${text.slice(-160)}` : text;
}

function patchPaths(patch) {
  return [...patch.matchAll(/^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ b\/)(.*)$/gm)].map((one) => one[1].trim()).slice(0, 4);
}

/** What came of a call that went well, in a few words. */
export function cameOf(entry) {
  const result = entry.envelope?.result;
  if (!result || typeof result !== "object") return "";
  if (result.kind === "listing") return many(result.entry_count, "entry", "entries");
  if (result.kind === "search") return many(result.match_count, "match", "matches");
  if (result.kind === "file") return result.total_line_count ? many(result.selected_line_count, "line") : "empty";
  if (Array.isArray(result.matches)) return many(result.matches.length, "match", "matches");
  if (Array.isArray(result.entries) && result.total !== undefined) return many(result.total, "path");
  if (Array.isArray(result.results)) return many(result.count ?? result.results.length, "result");
  return "";
}

/** The state of a call in words, for people who hear it and for its badge. */
export const STATES = {
  writing: ["is being written", "busy"],
  planned: ["to be run", ""],
  asked: ["asked for", "busy"],
  waiting: ["waits for approval", "warn"],
  running: ["runs", "busy"],
  inquiring: ["asks a person", "warn"],
  outside: ["waits for the application", "warn"],
  done: ["done", "ok"],
  failed: ["failed", "bad"],
};
