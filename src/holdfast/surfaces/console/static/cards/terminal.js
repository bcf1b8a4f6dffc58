// Output of commands: printed text, how it ended, and the live tail of one that still runs.

import { h, replace, setText } from "../lib/dom.js";
import { bytes, duration } from "../lib/format.js";
import { badge, button } from "../lib/parts.js";
import { ends, plainOutput } from "../lib/terminal_text.js";
import { seen } from "../text/shown.js";

const FIRST = 8;
const LAST = 10;

/** How a command ended, in a word. */
export function exitBadge(result) {
  if (!result) return null;
  if (result.killed_by) return badge(`ended by ${result.killed_by}`, "warn");
  if (result.timed_out) return badge("ran out of time", "warn");
  if (result.signal) return badge(String(result.signal), "warn");
  if (result.exit_code === null || result.exit_code === undefined) return null;
  return badge(`exit ${result.exit_code}`, result.exit_code === 0 ? "" : "warn");
}

/** A printed text: long ones show their beginning and end, and the rest when a person wants it. */
export function printed(text, { tone = "", label = "Output", open = false } = {}) {
  const plain = plainOutput(text).replace(/\n$/, "");
  const pre = h("pre.printed", { class: tone && `printed-${tone}`, tabindex: "0", "aria-label": label });
  const part = ends(plain, FIRST, LAST);
  if (!part.skipped || open) return replace(pre, plain || "");
  const more = button({
    label: `${part.skipped} more lines`, kind: "quiet", small: true,
    action: () => replace(pre, plain),
  });
  more.classList.add("printed-more");
  return replace(pre, `${part.head}\n`, more, `\n${part.tail}`);
}

/** What a settled command printed, with the link to the whole of it where it was cut. */
export function commandBody(entry, ctx) {
  const { result = {}, metadata = {} } = entry.envelope ?? {};
  const streams = [];
  if (result.head !== undefined) {
    streams.push(printed(result.head, { label: "Beginning of the output" }));
    if (metadata.tail) streams.push(h("p.cut-note", "…"), printed(metadata.tail, { label: "End of the output" }));
  } else {
    if (result.stdout) streams.push(printed(result.stdout));
    if (result.stderr) streams.push(printed(result.stderr, { tone: "error", label: "Error output" }));
    if (result.log_tail) streams.push(printed(result.log_tail, { label: "Log" }));
  }
  return [
    commandLine(entry.arguments?.command, result.cwd ?? entry.arguments?.workdir ?? entry.arguments?.cwd),
    streams.length ? streams : h("p.faint.pad", "It printed nothing."),
    wholeOutput(metadata, ctx),
    result.log_file ? ctx.fileLink(result.log_file, "Log of the process") : null,
  ];
}

export function commandLine(command, cwd) {
  if (!command) return null;
  return h("div.command", h("span.command-sign", { "aria-hidden": "true" }, "$"), h("code", seen(command)), cwd ? h("span.faint.command-cwd", cwd) : null);
}

/** Where the whole of a cut answer is. */
export function wholeOutput(metadata, ctx) {
  if (!metadata?.output_path) return null;
  const size = metadata.output_bytes ? ` (${bytes(metadata.output_bytes)})` : "";
  return h("p.whole", ctx.fileLink(metadata.output_path, `Whole output${size}`),
    metadata.dropped_bytes ? h("span.faint", `${bytes(metadata.dropped_bytes)} of it were kept nowhere`) : null);
}

/**
 * The tail of a command that runs, kept live as long as the element is in the page: what it
 * printed last, for how long it runs, and a way to end it. `sources` follows it.
 */
export function liveTail(command, ctx) {
  const output = h("pre.printed.live-output", { tabindex: "0", role: "log", "aria-label": "What it printed last" });
  const errors = h("pre.printed.printed-error", { hidden: true, tabindex: "0", "aria-label": "Error output" });
  const passed = h("span.faint.nowrap");
  const state = h("span");
  const terminate = button({
    label: "Terminate", icon: "stop", kind: "danger", small: true,
    action: () => ctx.terminate(command.id),
  });
  const root = h("div.live-tail", { dataset: { command: command.id } },
    output, errors, h("div.live-foot", h("span.dot.tone-busy"), state, passed, h("span.grow"), terminate));
  let latest = command;

  function draw(now) {
    latest = { ...latest, ...now };
    const running = isRunning(latest);
    const atEnd = output.scrollHeight - output.scrollTop - output.clientHeight < 30;
    setText(output, plainOutput(latest.stdout_tail).replace(/\n$/, ""));
    output.hidden = !latest.stdout_tail;
    if (atEnd) output.scrollTop = output.scrollHeight;
    setText(errors, plainOutput(latest.stderr_tail).replace(/\n$/, ""));
    errors.hidden = !latest.stderr_tail;
    setText(state, running ? (latest.kind === "job" ? "Runs in the background" : "Runs") : endedWords(latest));
    terminate.hidden = !running;
    root.querySelector(".dot").className = `dot ${running ? "tone-busy" : latest.exit_code === 0 ? "tone-ok" : "tone-warn"}`;
    tick();
  }

  function tick() {
    setText(passed, latest.started_at && isRunning(latest) ? duration(Date.now() - new Date(latest.started_at).getTime()) : "");
  }

  draw(command);
  const timer = setInterval(tick, 1000);
  const stop = ctx.followCommand(command.id, draw);
  return {
    root,
    command: command.id,
    dispose: () => {
      clearInterval(timer);
      stop();
    },
  };
}

export function isRunning(command) {
  return command.state === "running";
}

function endedWords(command) {
  if (command.killed_by) return `Ended by ${command.killed_by}`;
  return command.exit_code === null || command.exit_code === undefined ? "Over" : `Exit ${command.exit_code}`;
}
