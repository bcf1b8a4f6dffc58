// Draws what changed: two columns where there is room, one below the other where there is none.

import { h } from "../lib/dom.js";
import { counted } from "../lib/diff.js";
import { button } from "../lib/parts.js";
import { icon } from "../lib/icons.js";

const AT_FIRST = 60;

/** `+3 -1`, heard as words. */
export function changeCount(rows) {
  const { added, removed } = counted(rows);
  return h("span.count-change", { "aria-label": `${added} lines added, ${removed} removed` },
    added ? h("span.count-added", `+${added}`) : null, removed ? h("span.count-removed", `−${removed}`) : null);
}

/** The rows of a diff as an element; a long one is shown whole when a person wants it. */
export function diffElement(rows, { path = "", label = path, change = "", from = null } = {}) {
  const oneSided = rows.every((row) => row.kind === "gap" || !row.left) || rows.every((row) => row.kind === "gap" || !row.right);
  const numbers = rows.some((row) => row.left?.number || row.right?.number);
  const table = h("div.diff", { class: [oneSided && "one-sided", !numbers && "no-numbers"], role: "group", "aria-label": `Changes${label ? ` of ${label}` : ""}` });
  const fill = (count) => table.append(...rows.slice(table.childElementCount, count).map((row) => line(row, oneSided)));
  fill(AT_FIRST);
  const head = path
    ? h("div.diff-head", icon("file", { size: 14 }), h("span.mono.cut", from ? `${from} → ${path}` : path), change ? h("span.faint", change) : null, changeCount(rows))
    : null;
  const root = h("div.diff-file", head, h("div.diff-scroll", { tabindex: "0", role: "region", "aria-label": "Changed lines" }, table));
  if (rows.length > AT_FIRST + 10) {
    const more = button({
      label: `Show ${rows.length - AT_FIRST} more lines`, kind: "quiet", small: true,
      action: () => {
        fill(rows.length);
        more.remove();
      },
    });
    more.classList.add("diff-more");
    root.append(more);
  }
  return root;
}

function line(row, oneSided) {
  if (row.kind === "gap") return h("div.diff-row.diff-gap", h("span", row.text));
  if (oneSided) return h(`div.diff-row.diff-${row.kind}`, side(row.left ?? row.right, row.kind === "same" ? "" : row.left ? "-" : "+"));
  return h(`div.diff-row.diff-${row.kind}`,
    side(row.left, row.kind === "same" ? "" : "-", "diff-left"), side(row.right, row.kind === "same" ? "" : "+", "diff-right"));
}

function side(one, sign, place = "") {
  if (!one) return h("div.diff-side.diff-none", { class: place });
  return h("div.diff-side", { class: [place, sign === "-" && "diff-out", sign === "+" && "diff-in"] },
    h("span.diff-number", { "aria-hidden": "true" }, one.number ?? ""),
    h("span.diff-sign", sign || " "),
    h("code.diff-text", marked(one)));
}

function marked({ text, marks }) {
  if (!marks?.length) return text || " ";
  const parts = [];
  let at = 0;
  for (const [from, to] of marks) {
    parts.push(text.slice(at, from), h("mark", text.slice(from, to)));
    at = to;
  }
  parts.push(text.slice(at));
  return parts;
}
