/**
 * Two tellings of one event side by side: where they part first, and all places where they differ.
 * Pure.
 */

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

const MOST_COMPARED = 400;

/** Lines with `-`, `+` or a space before them. */
export function changed(one, other) {
  let first = 0;
  while (first < one.length && first < other.length && one[first] === other[first]) first += 1;
  let last = 0;
  while (last < one.length - first && last < other.length - first && one[one.length - 1 - last] === other[other.length - 1 - last]) last += 1;
  const [mine, yours] = [one.slice(first, one.length - last), other.slice(first, other.length - last)];
  const middle = mine.length + yours.length > MOST_COMPARED
    ? [...mine.map((line) => `-${line}`), ...yours.map((line) => `+${line}`)]
    : common(mine, yours);
  const before = one.slice(0, first).map((line) => ` ${line}`);
  const behind = one.slice(one.length - last).map((line) => ` ${line}`);
  return [...before, ...middle, ...(last > 0 ? behind : [])];
}

function common(mine, yours) {
  const table = Array.from({ length: mine.length + 1 }, () => new Uint16Array(yours.length + 1));
  for (let a = mine.length - 1; a >= 0; a -= 1) {
    for (let b = yours.length - 1; b >= 0; b -= 1) {
      table[a][b] = mine[a] === yours[b] ? table[a + 1][b + 1] + 1 : Math.max(table[a + 1][b], table[a][b + 1]);
    }
  }
  const told = [];
  let [a, b] = [0, 0];
  while (a < mine.length || b < yours.length) {
    if (a < mine.length && b < yours.length && mine[a] === yours[b]) {
      told.push(` ${mine[a]}`);
      a += 1;
      b += 1;
    } else if (b >= yours.length || (a < mine.length && table[a + 1][b] >= table[a][b + 1])) {
      told.push(`-${mine[a++]}`);
    } else {
      told.push(`+${yours[b++]}`);
    }
  }
  return told;
}
