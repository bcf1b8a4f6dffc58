/** A change side by side; on a narrow screen one below the other. It shows lines and decides nothing. */

import { h, replace } from "../lib/dom.js";
import { seen } from "../text/shown.js";
import { counted, sideBySide } from "./side_by_side.js";

const FIRST = 60;

/** The lines of a change as `GET /approvals` tells them. */
export function changeView(lines, { caption = "What it would change" } = {}) {
  const rows = sideBySide(lines);
  const { come, gone } = counted(rows);
  const body = h("div.change-body", { role: "table", "aria-label": caption });
  const more = h("button.link-button.change-more", { type: "button", on: { click: () => fill(rows.length) } });
  function fill(most) {
    replace(body, rows.slice(0, most).map(line));
    more.hidden = most >= rows.length;
    more.textContent = `Show all ${rows.length} lines`;
  }
  fill(Math.min(FIRST, rows.length));
  return h("figure.change",
    h("figcaption", caption, " ",
      h("span.change-come", { "aria-label": `${come} lines come` }, `+${come}`), " ",
      h("span.change-gone", { "aria-label": `${gone} lines go` }, `−${gone}`)),
    body, more);
}

function line(row) {
  if (row.kind === "heading") return h("div.change-row.heading", { role: "row" }, h("span", { role: "cell" }, parts(row.left)));
  return h("div.change-row", { role: "row", class: row.kind },
    side("left", row.left, row.kind === "same" ? "" : "−"),
    side("right", row.right, row.kind === "same" ? "" : "+"));
}

function side(name, told, sign) {
  if (told === null) return h(`span.change-side.${name}.empty`, { role: "cell" });
  return h(`span.change-side.${name}`, { role: "cell" },
    h("span.change-sign", sign),
    h("code", parts(told)));
}

function parts(told) {
  return told.map((one) => (one.changed ? h("mark", seen(one.text)) : seen(one.text)));
}
