// The body of a card: what came of a call, drawn by the form of its result. Whether it failed is
// told by `ok` alone; the tool's name only helps where its arguments say more than its result.

import { h } from "../lib/dom.js";
import { diffRows } from "../lib/diff.js";
import { bytes, firstLine } from "../lib/format.js";
import { highlighted, languageOf } from "../lib/highlight.js";
import { icon } from "../lib/icons.js";
import { codeBlock, markdown } from "../lib/markdown_dom.js";
import { safe } from "../lib/markdown_inline.js";
import { patchFiles } from "../lib/patch.js";
import { changeCount, diffElement } from "./diffs.js";
import { failureBody } from "./failure.js";
import { treeElement } from "./listing.js";
import { partsOf } from "./markers.js";
import { commandBody, exitBadge, wholeOutput } from "./terminal.js";

const MOST_MATCHES = 60;

/**
 * What a settled call shows: `{body, meta, open}`. `body` is an element or null, `meta` stands in
 * the head, `open` says whether the card begins open.
 */
export function bodyOf(entry, ctx) {
  if (entry.ok === false) return { body: failureBody(entry, ctx), meta: null, open: true };
  const made = byArguments(entry) ?? byResult(entry.envelope?.result, entry, ctx);
  const parts = [made.body, made.whole === false ? null : wholeOutput(entry.envelope?.metadata, ctx), warnings(entry.envelope)];
  return { ...made, body: parts.some(Boolean) ? h("div", parts) : null };
}

export function warnings(envelope) {
  if (!envelope?.warnings?.length) return null;
  return h("ul.warnings", envelope.warnings.map((one) => h("li", icon("warning", { size: 14 }), h("span", one))));
}

/** What a call changed is told by what it was given. */
function byArguments(entry) {
  const given = entry.arguments;
  if (!given) return null;
  if (typeof given.old_string === "string" && typeof given.new_string === "string") return diff(diffRows(given.old_string, given.new_string).map(unnumbered), given.path);
  if (typeof given.patch === "string") {
    const files = patchFiles(given.patch);
    if (files) {
      return { body: h("div.diff-files", files.map((file) => diffElement(file.rows, files.length > 1 || file.change !== "changed" ? file : { label: file.path }))), meta: changeCount(files.flatMap((file) => file.rows)), open: true };
    }
  }
  if (typeof given.content === "string" && typeof given.path === "string" && /write/.test(entry.tool)) return diff(diffRows("", given.content), given.path);
  if (entry.tool === "todo" && Array.isArray(given.todos)) return { body: todoList(given.todos), meta: todoCount(given.todos), open: true };
  return null;
}

function diff(rows, path) {
  return { body: diffElement(rows, { label: path }), meta: changeCount(rows), open: true };
}

/** A replaced text does not say where in the file it stands: its lines have no numbers. */
function unnumbered(row) {
  if (row.left) row.left.number = null;
  if (row.right) row.right.number = null;
  return row;
}

function byResult(result, entry, ctx) {
  if (result === null || result === undefined) return { body: null, meta: null, open: false };
  if (typeof result === "string") return { body: textBody(result, ctx), open: short(result) };
  if (typeof result !== "object") return { body: h("p.pad.mono", String(result)), open: true };
  for (const [fits, make] of FORMS) if (fits(result)) return make(result, entry, ctx);
  return { body: valueBody(result), open: false };
}

const has = (...names) => (result) => names.every((name) => result[name] !== undefined);
const kind = (name) => (result) => result.kind === name;

const FORMS = [
  [(result) => typeof result.text === "string" && Object.keys(result).length === 1, textForm],
  [kind("listing"), (result) => ({ body: treeElement(result.entries ?? [], { root: result.path, truncated: result.truncated }), open: false })],
  [kind("search"), (result) => ({ body: treeElement(result.entries ?? [], { truncated: result.truncated }), open: false })],
  [kind("file"), (result) => ({ body: fileBody(result), open: false })],
  [kind("image"), (result, entry, ctx) => ({ body: pictureBody(result, ctx), open: true })],
  [kind("binary"), (result, entry, ctx) => ({ body: h("p.pad", ctx.fileLink(result.path, `${result.media_type}, ${bytes(result.byte_count)}`)), open: false })],
  [has("matches"), (result) => ({ body: matchesBody(result), open: false })],
  [(result) => Array.isArray(result.entries) && result.total !== undefined, (result) => ({ body: treeElement(result.entries), open: false })],
  [(result) => result.exit_code !== undefined || has("stdout")(result) || has("log_tail")(result), commandForm],
  [has("url", "content"), (result) => ({ body: h("div", h("p.pad", address(result.url)), h("div.pad", markdown(result.content))), open: false })],
  [(result) => Array.isArray(result.results) && result.results.some((one) => one.url), (result) => ({ body: hits(result.results), open: false })],
  [(result) => Array.isArray(result.results) && result.results.some((one) => one.path), (result) => ({ body: h("div", result.text ? h("div.pad", markdown(result.text)) : null, places(result.results)), open: false })],
  [has("answers"), (result, entry) => ({ body: answersBody(result, entry), open: true })],
  [(result) => typeof result.tree === "string", (result) => ({ body: codeBlock(result.tree, "tree"), open: false })],
  [(result) => typeof result.head === "string" && Object.keys(result).length === 1, (result, entry) => ({ body: h("div", codeBlock(result.head), entry.envelope.metadata?.tail ? codeBlock(entry.envelope.metadata.tail) : null), open: false })],
];

/** A result in text form is its text, as Markdown; artifacts and charts in it are shown. */
function textForm(result, entry, ctx) {
  const parts = partsOf(result.text);
  const rich = parts.some((one) => one.type !== "text");
  return { body: textBody(result.text, ctx), open: rich || short(result.text) };
}

function textBody(text, ctx) {
  return h("div.pad.stack", partsOf(text).map((one) => {
    if (one.type === "text") return markdown(one.text);
    return one.type === "chart" ? chart(one.about, ctx) : artifact(one, ctx);
  }));
}

function short(text) {
  return text.length < 1200 && text.split("\n").length < 24;
}

function chart(about, ctx) {
  return h("figure.picture", ctx.picture(about.host_path ?? about.filename, `Chart: ${about.title || about.chartType || ""}`),
    h("figcaption", about.title ? h("span", about.title) : null, h("span.faint", `${about.total_rows ?? "?"} rows of ${(about.series ?? []).join(", ")}`),
      ctx.fileLink(about.host_path ?? about.filename, about.filename)));
}

function artifact({ about, text }, ctx) {
  const isPicture = String(about.mime_type ?? "").startsWith("image/");
  return h("div.artifact",
    h("p.artifact-head", icon(about.is_directory ? "folder" : "file"), ctx.fileLink(about.host_path ?? about.filename, about.filename),
      h("span.faint", [about.mime_type, about.file_size === undefined ? null : bytes(about.file_size)].filter(Boolean).join(", "))),
    about.description ? h("p.dim", about.description) : null,
    isPicture ? ctx.picture(about.host_path ?? about.filename, about.description || about.filename) : null,
    text.trim() ? (about.mime_type === "text/markdown" ? h("div.artifact-text", markdown(text)) : codeBlock(text, languageOf(about.filename))) : null);
}

function pictureBody(result, ctx) {
  const about = result.about ?? {};
  return h("figure.picture", ctx.picture(result.path, firstLine(result.path)),
    h("figcaption", h("span.faint", [about.width ? `${about.width} × ${about.height}` : null, result.media_type, bytes(result.byte_count)].filter(Boolean).join(", "))));
}

function fileBody(result) {
  const first = result.start_line;
  const lines = result.text.replace(/\n$/, "").split("\n");
  const code = h("code");
  code.append(...highlighted(lines.join("\n"), languageOf(result.path)));
  return h("div.file",
    h("div.file-scroll", { tabindex: "0", role: "region", "aria-label": `Text of ${result.path}` },
      first > 0 ? h("pre.file-numbers", { "aria-hidden": "true" }, lines.map((_, at) => first + at).join("\n")) : null,
      h("pre.file-text", code)),
    result.note ? h("p.faint.pad", result.note) : null);
}

function matchesBody(result) {
  const byPath = new Map();
  for (const match of result.matches.slice(0, MOST_MATCHES)) byPath.set(match.path, [...(byPath.get(match.path) ?? []), match]);
  const left = result.matches.length - MOST_MATCHES;
  return h("div.matches",
    [...byPath].map(([path, all]) => h("section", h("h4.mono", path), h("ol", all.map((match) => h("li", h("span.line-number", match.line), h("code", match.text)))))),
    left > 0 ? h("p.faint.pad", `${left} more are not shown here.`) : null,
    result.more ? h("p.faint.pad", result.more) : null);
}

function commandForm(result, entry, ctx) {
  const failed = result.exit_code !== 0 && result.exit_code !== undefined;
  const output = `${result.stdout ?? result.head ?? ""}${result.stderr ?? ""}`;
  return { body: h("div.terminal", commandBody(entry, ctx)), meta: exitBadge(result), open: failed || (output.length > 0 && output.split("\n").length <= 16), whole: false };
}

function hits(results) {
  return h("ol.hits", results.map((one) => h("li", address(one.url, one.title || one.url), h("span.faint.hit-host", hostOf(one.url)), one.snippet ? h("p.dim", one.snippet) : null)));
}

function address(url, label = url) {
  const href = safe(String(url));
  return href ? h("a", { href, target: "_blank", rel: "noopener noreferrer nofollow" }, label) : h("span", label);
}

function hostOf(url) {
  try {
    return new URL(url).host;
  } catch {
    return "";
  }
}

function places(results) {
  return h("ol.places", results.map((one) => h("li",
    h("span.mono", `${one.path}:${one.line}:${one.column}`),
    one.severity ? h("span.place-severity", `${one.severity}: ${one.message}`) : null,
    one.name ? h("span.dim", `${one.kind ?? ""} ${one.name}`) : null,
    one.text ? h("code.place-text", one.text.trim()) : null)));
}

function answersBody(result, entry) {
  const questions = entry.arguments?.questions ?? (entry.arguments?.question ? [{ question: entry.arguments.question }] : []);
  return h("dl.answers", result.answers.map((answer, at) => h("div", h("dt", questions[at]?.question ?? `Question ${at + 1}`), h("dd", answer.length ? answer.join(", ") : "no answer"))));
}

const MARKS = { completed: ["check", "done"], in_progress: ["play", "being done"], pending: ["dots", "to be done"] };

export function todoList(todos) {
  return h("ul.todos", todos.map((one) => {
    const [name, said] = MARKS[one.status] ?? MARKS.pending;
    return h("li", { class: `todo-${one.status}` }, h("span.todo-mark", icon(name, { size: 12, label: said })), h("span", one.status === "in_progress" ? one.active_form || one.content : one.content));
  }));
}

export function todoCount(todos) {
  return h("span.faint.nowrap", `${todos.filter((one) => one.status === "completed").length}/${todos.length}`);
}

/** Any other value: small ones as names and values, others as JSON. */
function valueBody(value) {
  const entries = Array.isArray(value) ? [] : Object.entries(value);
  if (entries.length && entries.length <= 12 && entries.every(([, one]) => one === null || typeof one !== "object") && entries.every(([, one]) => String(one).length < 400)) {
    return h("dl.values", entries.map(([name, one]) => h("div", h("dt", name), h("dd", one === null ? h("span.faint", "none") : String(one)))));
  }
  return codeBlock(JSON.stringify(value, null, 2), "json");
}
