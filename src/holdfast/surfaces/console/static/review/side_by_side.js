/**
 * Lines of a change as rows with a left and a right side, and what of a line is another one.
 *
 * It takes lines with `+`, `-` and a space before them; everything else is a heading. Which file
 * they are of, and how they look, is not known here.
 */

const LONGEST_COMPARED = 1200;
const MOST_WORDS = 240;

/** `[{kind, left, right}]`; a side is `[{text, changed}]` or null. Kinds: `same`, `changed`, `gone`, `come`, `heading`. */
export function sideBySide(lines) {
  const rows = [];
  let gone = [];
  let come = [];
  const flush = () => {
    for (let at = 0; at < Math.max(gone.length, come.length); at += 1) rows.push(row(gone[at], come[at]));
    gone = [];
    come = [];
  };
  for (const line of lines) {
    if (line.startsWith("-")) {
      if (come.length > 0) flush();
      gone.push(line.slice(1));
    } else if (line.startsWith("+")) {
      come.push(line.slice(1));
    } else {
      flush();
      rows.push(unchanged(line));
    }
  }
  flush();
  return rows;
}

function unchanged(line) {
  const blank = line === "";
  if (!blank && !line.startsWith(" ")) return { kind: "heading", left: plain(line), right: null };
  const text = plain(blank ? "" : line.slice(1));
  return { kind: "same", left: text, right: text };
}

function row(gone, come) {
  if (gone === undefined) return { kind: "come", left: null, right: plain(come) };
  if (come === undefined) return { kind: "gone", left: plain(gone), right: null };
  const [left, right] = compared(gone, come);
  return { kind: "changed", left, right };
}

function plain(text) {
  return [{ text, changed: false }];
}

/** Both texts, with the words that the other one does not have. */
export function compared(one, other) {
  if (one.length + other.length > LONGEST_COMPARED) return [whole(one), whole(other)];
  const [mine, yours] = [words(one), words(other)];
  if (mine.length + yours.length > MOST_WORDS) return [whole(one), whole(other)];
  const kept = longestCommon(mine, yours);
  const left = marked(mine, new Set(kept.map(([at]) => at)));
  const right = marked(yours, new Set(kept.map(([, at]) => at)));
  const alike = kept.reduce((sum, [at]) => sum + mine[at].trim().length, 0);
  const little = alike * 4 < Math.max(one.trim().length, other.trim().length);
  return little ? [whole(one), whole(other)] : [left, right];
}

function whole(text) {
  return [{ text, changed: text !== "" }];
}

function words(text) {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** Pairs of places of words that both have, in order. */
function longestCommon(mine, yours) {
  const table = Array.from({ length: mine.length + 1 }, () => new Uint16Array(yours.length + 1));
  for (let a = mine.length - 1; a >= 0; a -= 1) {
    for (let b = yours.length - 1; b >= 0; b -= 1) {
      table[a][b] = mine[a] === yours[b] ? table[a + 1][b + 1] + 1 : Math.max(table[a + 1][b], table[a][b + 1]);
    }
  }
  const found = [];
  let [a, b] = [0, 0];
  while (a < mine.length && b < yours.length) {
    if (mine[a] === yours[b]) found.push([a++, b++]);
    else if (table[a + 1][b] >= table[a][b + 1]) a += 1;
    else b += 1;
  }
  return found;
}

function marked(all, kept) {
  const told = [];
  all.forEach((text, at) => {
    const changed = !kept.has(at);
    const last = told.at(-1);
    if (last !== undefined && last.changed === changed) last.text += text;
    else told.push({ text, changed });
  });
  return told;
}

/** How many lines come and go. */
export function counted(rows) {
  const of = (...kinds) => rows.filter((one) => kinds.includes(one.kind)).length;
  return { come: of("come", "changed"), gone: of("gone", "changed") };
}
