/**
 * Text and JSON as a person reads them before they decide: nothing hidden, nothing interpreted.
 */

import { h, replace } from "../lib/dom.js";
import { copyButton } from "../lib/parts.js";
import { laidOut, read, write } from "./json_text.js";
import { visible } from "./visible.js";

const MOST_PIECES = 6000;
const LONG_LINES = 14;

/** The text as nodes, with what nobody would see told by its number. */
export function seen(text) {
  return visible(String(text ?? "")).map((one) =>
    one.unseen ? h("span.unseen", { title: "a character that is not seen" }, one.text) : one.text,
  );
}

/** A block of text as it is, in a fixed width. */
export function textBlock(text, { label = null } = {}) {
  return h("pre.block", { tabindex: "0", "aria-label": label, role: label ? "group" : null }, seen(text));
}

/** A block of JSON, laid out and coloured; what is none stands as it is. */
export function jsonBlock(text, { label = null } = {}) {
  const pieces = laidOut(text);
  if (pieces === null || pieces.length > MOST_PIECES) return textBlock(text, { label });
  const told = pieces.map((one) =>
    one.kind === "space" ? one.text : h(`span.json-${one.kind}`, seen(one.text)),
  );
  return h("pre.block.json", { tabindex: "0", "aria-label": label, role: label ? "group" : null }, told);
}

/**
 * Arguments of a call: one below the other, texts with their line breaks; or raw, exactly as sent.
 * Members that stand twice and what is no JSON are told, as the call would not be what it seems.
 */
export function argumentsView(text, { left = [] } = {}) {
  const found = read(text);
  const root = h("div.arguments");
  const object = found !== null && isPlain(found.value);
  let raw = !object;
  const toggle = h("button.link-button", { type: "button", on: { click: () => { raw = !raw; draw(); } } });
  function draw() {
    toggle.textContent = raw ? "Show laid out" : "Show exactly as sent";
    replace(root,
      notes(text, found),
      raw ? textBlock(text, { label: "Arguments as they were sent" }) : memberList(found.value, left),
      h("div.arguments-foot", object ? toggle : null, copyButton(() => text, "Copy the arguments")));
  }
  draw();
  return root;
}

function notes(text, found) {
  if (found === null) return h("p.caution", text.trim() === "" ? "No arguments were sent." : "This is not JSON: it is repaired, or refused, before anything runs.");
  if (found.twice.length === 0) return null;
  return h("p.caution", `Stands twice, and the last one counts: ${found.twice.join(", ")}. Look at what exactly was sent.`);
}

function memberList(value, left) {
  const names = Object.keys(value);
  if (names.length === 0) return h("p.dim", "No arguments.");
  return h("dl.members", names.map((name) => h("div", { class: left.includes(name) && "told-below" },
    h("dt", seen(name)),
    h("dd", left.includes(name) ? h("span.faint", "shown as a change below") : memberValue(value[name])))));
}

function memberValue(value) {
  if (typeof value !== "string") {
    const text = write(value);
    return text.length < 60 ? h("code", seen(text)) : jsonBlock(text);
  }
  if (value === "") return h("span.faint", "empty text");
  if (!value.includes("\n") && value.length < 200) return h("code.plain", seen(value));
  return foldable(value);
}

/** A long text, first lines first. */
export function foldable(text, most = LONG_LINES) {
  const lines = text.split("\n");
  if (lines.length <= most + 4) return textBlock(text);
  const root = h("div");
  let open = false;
  const more = h("button.link-button", { type: "button", on: { click: () => { open = !open; draw(); } } });
  function draw() {
    more.textContent = open ? "Show less" : `Show all ${lines.length} lines`;
    replace(root, textBlock(open ? text : lines.slice(0, most).join("\n")), more);
  }
  draw();
  return root;
}

function isPlain(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) && Object.getPrototypeOf(value) === Object.prototype;
}
