/**
 * Two tellings of one event side by side: where they part first, and all places where they differ.
 * Pure.
 */

import { changes } from "../lib/diff.js";
import { ExactNumber, same, write } from "../text/json_text.js";
import { sideBySide } from "../review/side_by_side.js";

/** The way to the first place that differs, such as `$.envelope.result[2]`; null: they are the same. */
export function firstPlace(recorded, now, path = "$") {
  if (same(recorded, now)) return null;
  if (isObject(recorded) && isObject(now)) {
    const names = [...new Set([...Object.keys(recorded), ...Object.keys(now)])].sort();
    for (const name of names) {
      const found = firstPlace(recorded[name], now[name], `${path}${step(name)}`);
      if (found !== null) return found;
    }
  }
  if (Array.isArray(recorded) && Array.isArray(now)) {
    for (let at = 0; at < Math.max(recorded.length, now.length); at += 1) {
      const found = firstPlace(recorded[at], now[at], `${path}[${at}]`);
      if (found !== null) return found;
    }
  }
  return path;
}

function step(name) {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** Rows for both values; texts line by line, everything else as JSON laid out. */
export function rowsOf(recorded, now) {
  const [one, other] = [lines(recorded), lines(now)];
  return sideBySide(changed(one, other));
}

function lines(value) {
  if (value === undefined) return ["(nothing)"];
  return (typeof value === "string" ? value : write(value, 2)).split("\n");
}

/** Lines with `-`, `+` or a space before them. */
export function changed(one, other) {
  return changes(one, other).map(([sign, line]) => sign + line);
}
