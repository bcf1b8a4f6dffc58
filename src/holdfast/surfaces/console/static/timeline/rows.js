// Which rows of a timeline are shown: entries, and runs of settled calls folded into one. Pure.

/** So many calls in a row that went well are told as one; failures always stand for themselves. */
const RUN = 12;

/**
 * The rows of entries: each has `key`, `rev`, and an `entry`, or `calls` (those folded together).
 * `opened` holds the keys of folded runs that a person has opened. What is grouped depends on `ok`
 * alone; the last calls of a session that is at work stay as they are.
 */
export function rowsOf(entries, opened = new Set(), { atWork = false } = {}) {
  const rows = [];
  let run = [];

  function end(last) {
    const folds = run.length >= RUN && !(last && atWork);
    const key = folds ? `run:${run[0].key}` : null;
    if (!folds) {
      for (const entry of run) rows.push(row(entry));
    } else {
      const isOpen = opened.has(key);
      rows.push({ key, rev: `${run.length}:${isOpen}`, calls: run, open: isOpen });
      if (isOpen) for (const entry of run) rows.push({ ...row(entry), inside: key });
    }
    run = [];
  }

  for (const entry of entries) {
    if (entry.kind === "child" && entry.call) continue;
    if (entry.kind === "call" && entry.ok === true) {
      run.push(entry);
      continue;
    }
    end(false);
    rows.push(row(entry));
  }
  end(true);
  for (let at = 0; at < rows.length; at += 1) {
    const before = rows[at - 1];
    rows[at].joined = Boolean(before && isCall(before) && isCall(rows[at]));
  }
  return rows;
}

function row(entry) {
  return { key: entry.key, rev: entry.rev, entry };
}

function isCall(one) {
  return Boolean(one.calls) || one.entry?.kind === "call";
}
