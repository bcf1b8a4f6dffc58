/** What came of replaying a session: the same, or the first event that is another one, side by side. */

import { h } from "../lib/dom.js";
import { many } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { button } from "../lib/parts.js";
import { divergenceOf } from "../review/wire.js";
import { seen } from "../text/shown.js";
import { firstPlace, rowsOf } from "./difference.js";

/** `found` as `POST /sessions/{id}/replay` gives it. */
export function divergenceView(found, { what, seekTo }) {
  const parted = divergenceOf(found.divergence);
  const compared = what === "run" ? many(found.compared ?? found.steps ?? 0, "event") : many(found.compared ?? found.steps ?? 0, "call");
  if (parted === null) {
    return h("div.verdict-box.tone-ok", { role: "status", dataset: { same: "true" } }, icon("check", { size: 22 }),
      h("div", h("p.verdict-word", what === "run" ? "The run comes out again, byte for byte" : "The same would be written down now"),
        h("p", `${compared} compared.`)));
  }
  const inner = firstPlace(parted.recorded, parted.now);
  const field = inner !== null && inner !== "$" ? `${parted.field}${inner.slice(1)}` : parted.field;
  return h("div.verdict-box.tone-bad", { role: "status", dataset: { same: "false" } }, icon("warning", { size: 22 }),
    h("div.stack.grow",
      h("p.verdict-word", `Event ${parted.sequence} ${what === "run" ? "is" : "would be"} another one`),
      h("p", h("code", seen(parted.kind)), " parts first at ", h("code.first-place", seen(field))),
      parted.says ? h("p.said-failure", seen(parted.says)) : null,
      h("div.parted", { role: "table", "aria-label": "Recorded and now" },
        h("div.parted-head", { role: "row" }, h("span", { role: "columnheader" }, "Recorded"), h("span", { role: "columnheader" }, "Now")),
        rowsOf(parted.recorded, parted.now).map(row)),
      h("div", button({ label: `Go to event ${parted.sequence}`, small: true, action: () => seekTo(parted.sequence) }))));
}

function row(one) {
  const side = (told, name) => h(`span.change-side.${name}`, { role: "cell", class: told === null && "empty" },
    told === null ? null : h("code", told.map((part) => (part.changed ? h("mark", seen(part.text)) : seen(part.text)))));
  const [left, right] = one.kind === "heading" ? [one.left, one.left] : [one.left, one.right];
  return h("div.change-row", { role: "row", class: one.kind }, side(left, "left"), side(right, "right"));
}
