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
    const shown = rows.slice(0, most);
    replace(body, h("div.change-wide", shown.map(line)), h("div.change-tall", oneBelowTheOther(shown)));
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

/** For a narrow screen: of lines that changed, those that go stand before those that come. */
function oneBelowTheOther(rows) {
  const told = [];
  let come = [];
  for (const row of [...rows, null]) {
    if (row === null || row.kind === "same" || row.kind === "heading") {
      told.push(...come);
      come = [];
      if (row !== null) told.push(row.kind === "same" ? single("same", row.left, "") : line(row));
      continue;
    }
    if (row.left !== null) told.push(single("gone", row.left, "−"));
    if (row.right !== null) come.push(single("come", row.right, "+"));
  }
  return told;
}

function single(kind, told, sign) {
  return h("div.change-row", { role: "row", class: kind }, side(kind === "come" ? "right" : "left", told, sign));
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
