// What changed between two texts, and what a patch changes: lines side by side. Pure.
//
// A row is `{left, right, kind}`; a side is `{number, text, marks}` or null, `kind` is "same",
// "changed", "added", "removed" or "gap" (with `text`). `marks` are the parts of a line that differ,
// as [from, to].

const MOST_LINES = 4000;
const AROUND = 3;

/** The rows between two texts, with what is the same left out but for some lines around changes. */
export function diffRows(before, after, { around = AROUND } = {}) {
  const left = linesOf(before);
  const right = linesOf(after);
  return folded(paired(changes(left, right)), around);
}

/** How many lines came and went. */
export function counted(rows) {
  let added = 0;
  let removed = 0;
  for (const row of rows) {
    if (row.kind === "changed" || row.kind === "added") added += row.right ? 1 : 0;
    if (row.kind === "changed" || row.kind === "removed") removed += row.left ? 1 : 0;
  }
  return { added, removed };
}

function linesOf(text) {
  if (text === "" || text === null || text === undefined) return [];
  const lines = String(text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Steps from one list of lines to the other: `[" " or "-" or "+", line]` (after Myers). */
export function changes(left, right) {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < left.length - start && end < right.length - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const a = left.slice(start, left.length - end);
  const b = right.slice(start, right.length - end);
  return [
    ...left.slice(0, start).map((line) => [" ", line]),
    ...middle(a, b),
    ...left.slice(left.length - end).map((line) => [" ", line]),
  ];
}

function middle(a, b) {
  const whole = () => [...a.map((line) => ["-", line]), ...b.map((line) => ["+", line])];
  if (!a.length || !b.length || a.length + b.length > MOST_LINES) return whole();
  const most = Math.min(a.length + b.length, 1000);
  const width = 2 * most + 1;
  let reach = new Int32Array(width + 2);
  const trace = [];
  for (let depth = 0; depth <= most; depth += 1) {
    trace.push(reach.slice());
    for (let k = -depth; k <= depth; k += 2) {
      const place = k + most;
      let x = k === -depth || (k !== depth && reach[place - 1] < reach[place + 1]) ? reach[place + 1] : reach[place - 1] + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1;
        y += 1;
      }
      reach[place] = x;
      if (x >= a.length && y >= b.length) return walked(a, b, trace, depth, most);
    }
  }
  return whole();
}

function walked(a, b, trace, depth, most) {
  const steps = [];
  let x = a.length;
  let y = b.length;
  for (let d = depth; d > 0; d -= 1) {
    const reach = trace[d];
    const k = x - y;
    const down = k === -d || (k !== d && reach[k - 1 + most] < reach[k + 1 + most]);
    const from = down ? k + 1 : k - 1;
    const startX = reach[from + most];
    const startY = startX - from;
    while (x > startX && y > startY) {
      x -= 1;
      y -= 1;
      steps.push([" ", a[x]]);
    }
    if (down) {
      y -= 1;
      steps.push(["+", b[y]]);
    } else {
      x -= 1;
      steps.push(["-", a[x]]);
    }
    x = startX;
    y = startY;
  }
  while (x > 0 && y > 0) {
    x -= 1;
    y -= 1;
    steps.push([" ", a[x]]);
  }
  return steps.reverse();
}

/** Steps as rows: what was taken away stands beside what came for it. */
export function paired(steps, firstLeft = 1, firstRight = 1) {
  const rows = [];
  let left = firstLeft;
  let right = firstRight;
  let gone = [];
  let come = [];
  const flush = () => {
    for (let at = 0; at < Math.max(gone.length, come.length); at += 1) {
      const one = gone[at] ?? null;
      const other = come[at] ?? null;
      if (one && other) [one.marks, other.marks] = differing(one.text, other.text);
      rows.push({ left: one, right: other, kind: one && other ? "changed" : one ? "removed" : "added" });
    }
    gone = [];
    come = [];
  };
  for (const [sign, text] of steps) {
    if (sign === "-") {
      gone.push({ number: left === null ? null : left++, text, marks: [] });
    } else if (sign === "+") {
      come.push({ number: right === null ? null : right++, text, marks: [] });
    } else {
      flush();
      rows.push({
        left: { number: left === null ? null : left++, text, marks: [] },
        right: { number: right === null ? null : right++, text, marks: [] }, kind: "same",
      });
    }
  }
  flush();
  return rows;
}

/** The one part in which two lines differ; nothing where they have hardly anything in common. */
function differing(one, other) {
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < one.length - start && end < other.length - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  if ((start + end) * 2 < Math.max(one.trim().length, other.trim().length)) return [[], []];
  const part = (line) => (line.length - end > start ? [[start, line.length - end]] : []);
  return [part(one), part(other)];
}

/** Rows with long stretches of what is the same left out. */
export function folded(rows, around) {
  const kept = new Set();
  rows.forEach((row, at) => {
    if (row.kind === "same") return;
    for (let near = at - around; near <= at + around; near += 1) kept.add(near);
  });
  const shown = [];
  let skipped = 0;
  rows.forEach((row, at) => {
    if (kept.has(at)) {
      if (skipped) shown.push({ kind: "gap", text: `${skipped} unchanged ${skipped === 1 ? "line" : "lines"}` });
      skipped = 0;
      shown.push(row);
    } else skipped += 1;
  });
  if (skipped && shown.length) shown.push({ kind: "gap", text: `${skipped} unchanged ${skipped === 1 ? "line" : "lines"}` });
  return shown;
}
