// Reads Markdown into blocks: a plain value, no markup. Pure; `markdown_dom.js` makes nodes of it.
//
// What it knows: headings, paragraphs, fenced code, lists with tasks, quotes, tables, rules; and in
// a line code, strong, emphasis, strikethrough, links, bare addresses. HTML is text like any other.
// Every step goes forwards, so that a hostile text costs no more than a long one.

import { inline } from "./markdown_inline.js";

const FENCE = /^( {0,3})(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s([^]*))?$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(\s+|$)([^]*)$/;
const QUOTE = /^ {0,3}> ?([^]*)$/;
const TASK = /^\[([ xX])\]\s+([^]*)$/;
const DEEPEST = 12;
/** A browser lays a table out by rows times columns, whatever stands in them. */
const MOST_COLUMNS = 60;
const MOST_CELLS = 20000;

/** The blocks of a text, each with the lines it was made of (`from`, `to`). */
export function parse(text, depth = 0) {
  const lines = Array.isArray(text) ? text : String(text ?? "").replaceAll("\r\n", "\n").split("\n");
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    const from = at;
    const block = fence(lines, at) ?? single(lines, at) ?? table(lines, at)
      ?? (depth < DEEPEST ? quote(lines, at, depth) ?? list(lines, at, depth) : null) ?? paragraph(lines, at, depth);
    at = block.next;
    delete block.next;
    blocks.push({ ...block, from, to: at });
  }
  return blocks;
}

function fence(lines, at) {
  const opening = FENCE.exec(lines[at]);
  if (!opening) return null;
  const [, indent, marks, info] = opening;
  const content = [];
  let next = at + 1;
  let closed = false;
  while (next < lines.length) {
    const line = lines[next];
    next += 1;
    const trimmed = line.trim();
    if (trimmed.length >= marks.length && trimmed[0] === marks[0] && trimmed === trimmed[0].repeat(trimmed.length)) {
      closed = true;
      break;
    }
    content.push(line.startsWith(indent) ? line.slice(indent.length) : line.trimStart());
  }
  return { type: "code", language: info.trim().split(/\s+/)[0] ?? "", text: content.join("\n"), closed, next };
}

function single(lines, at) {
  const heading = HEADING.exec(lines[at]);
  if (heading) return { type: "heading", level: heading[1].length, children: inline(titleOf(heading[2] ?? "")), next: at + 1 };
  if (RULE.test(lines[at])) return { type: "rule", next: at + 1 };
  return null;
}

/** The words of a heading: without the marks that may close it. */
function titleOf(rest) {
  const title = rest.trim();
  let end = title.length;
  while (title[end - 1] === "#") end -= 1;
  return end === 0 || /\s/.test(title[end - 1]) ? title.slice(0, end).trimEnd() : title;
}

function table(lines, at) {
  const second = lines[at + 1];
  if (!lines[at].includes("|") || !second || !/^[\s|:-]+$/.test(second) || !second.includes("-")) return null;
  const head = cells(lines[at]);
  const marks = cells(second);
  if (head.length > MOST_COLUMNS || head.length !== marks.length || !marks.every((mark) => /^:?-+:?$/.test(mark))) return null;
  const align = marks.map((mark) => (mark.endsWith(":") ? (mark.startsWith(":") ? "center" : "right") : ""));
  const rows = [];
  let next = at + 2;
  while (next < lines.length && lines[next].trim() && lines[next].includes("|") && rows.length * head.length < MOST_CELLS) {
    rows.push(cells(lines[next]).slice(0, head.length).map((cell) => inline(cell)));
    next += 1;
  }
  return { type: "table", head: head.map((cell) => inline(cell)), align, rows, next };
}

function cells(line) {
  let rest = line.trim();
  if (rest.startsWith("|")) rest = rest.slice(1);
  if (rest.endsWith("|") && !rest.endsWith("\\|")) rest = rest.slice(0, -1);
  const found = [];
  let cell = "";
  let code = false;
  for (let at = 0; at < rest.length; at += 1) {
    const sign = rest[at];
    if (sign === "\\" && rest[at + 1] === "|") {
      cell += "|";
      at += 1;
    } else if (sign === "`") {
      code = !code;
      cell += sign;
    } else if (sign === "|" && !code) {
      found.push(cell.trim());
      cell = "";
    } else cell += sign;
  }
  found.push(cell.trim());
  return found;
}

function quote(lines, at, depth) {
  if (!QUOTE.test(lines[at])) return null;
  const inner = [];
  let next = at;
  while (next < lines.length) {
    const inside = QUOTE.exec(lines[next]);
    if (inside) inner.push(inside[1]);
    else if (lines[next].trim() && inner.at(-1)?.trim() && !begins(lines, next)) inner.push(lines[next]);
    else break;
    next += 1;
  }
  return { type: "quote", children: parse(inner, depth + 1), next };
}

function list(lines, at, depth) {
  const first = ITEM.exec(lines[at]);
  if (!first || first[1].length > 3) return null;
  const ordered = /\d/.test(first[2]);
  const mark = first[2].at(-1);
  const items = [];
  let next = at;
  let loose = false;
  while (next < lines.length) {
    const item = ITEM.exec(lines[next]);
    if (!item || item[1].length > 3 || /\d/.test(item[2]) !== ordered || item[2].at(-1) !== mark || RULE.test(lines[next])) break;
    const width = item[1].length + item[2].length + Math.max(1, Math.min(item[3].length, 4));
    const inner = [item[4]];
    next += 1;
    while (next < lines.length) {
      const line = lines[next];
      if (!line.trim()) {
        const following = lines[next + 1];
        if (following === undefined || indentOf(following) < Math.min(width, 2) || !following.trim()) break;
        inner.push("");
      } else if (indentOf(line) >= Math.min(width, 2)) inner.push(line.slice(Math.min(width, indentOf(line))));
      else if (inner.at(-1)?.trim() && !begins(lines, next) && !ITEM.test(line)) inner.push(line);
      else break;
      next += 1;
    }
    const task = TASK.exec(inner[0]);
    if (task) inner[0] = task[2];
    items.push({ task: task ? task[1] !== " " : null, children: parse(inner, depth + 1) });
    let blank = next;
    while (blank < lines.length && !lines[blank].trim()) blank += 1;
    if (blank > next && blank < lines.length && ITEM.test(lines[blank]) && indentOf(lines[blank]) < 4) {
      loose = true;
      next = blank;
    }
  }
  return { type: "list", ordered, start: ordered ? Number.parseInt(first[2], 10) : 1, loose, items, next };
}

function paragraph(lines, at, depth) {
  const content = [];
  let next = at;
  while (next < lines.length && lines[next].trim() && (next === at || !begins(lines, next, depth))) {
    content.push(lines[next]);
    next += 1;
  }
  const joined = content.map((line, place) => {
    const trimmed = line.trimStart();
    if (place === content.length - 1) return trimmed.trimEnd();
    if (trimmed.endsWith("\\")) return `${trimmed.slice(0, -1)}\u0000`;
    return trimmed.endsWith("  ") ? `${trimmed.trimEnd()}\u0000` : trimmed.trimEnd();
  });
  return { type: "paragraph", children: inline(joined.join("\n").replaceAll("\u0000\n", "\u0000")), next };
}

/** Whether a line ends the paragraph before it. */
function begins(lines, at) {
  const line = lines[at];
  if (FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line)) return true;
  const item = ITEM.exec(line);
  return Boolean(item && item[4] && (!/\d/.test(item[2]) || Number.parseInt(item[2], 10) === 1));
}

function indentOf(line) {
  return line.length - line.trimStart().length;
}
