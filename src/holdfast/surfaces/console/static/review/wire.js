/**
 * What the API tells about policy, replays and evidence, in the form that pages show. Pure.
 */

/** Rules in force, each flat. */
export function rulesOf(found) {
  return found.rules.map(({ rule, only_narrows }) => ({ ...rule, only_narrows: only_narrows === true }));
}

/** Remembered answers, each flat, with who gave it. */
export function grantsOf(found) {
  return found.grants.map(({ id, rule }) => ({
    id,
    permission: rule.permission,
    capability: rule.capability ?? null,
    pattern: rule.pattern,
    action: rule.action,
    at: rule.added_at ?? null,
    by: String(rule.source ?? "").replace(/^answer of /, ""),
  }));
}

/** `{explanation, failure}`; exactly one of them is null. */
export function explained(told) {
  return { explanation: told.explanation ?? null, failure: told.explanation ? null : told.failure };
}

/** Where a replay parted from the recording: what stands there, as values or undefined. */
export function divergenceOf(found) {
  if (!found) return null;
  return {
    sequence: found.sequence,
    kind: found.kind,
    field: found.field,
    recorded: found.before,
    now: found.after,
    says: found.says ?? null,
  };
}

/**
 * Parts of an excerpt: what was searched for stands in brackets. So may anything else, which is why
 * only brackets around one of the words are taken for such.
 */
export function excerptParts(text, q) {
  const words = q.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const isHit = (part) => /^\[[^[\]]*\]$/.test(part) && words.some((word) => part.toLowerCase().includes(word));
  const told = [];
  for (const part of text.split(/(\[[^[\]]*\])/).filter(Boolean)) {
    const hit = isHit(part);
    if (!hit && told.at(-1)?.hit === false) told.at(-1).text += part;
    else told.push({ text: hit ? part.slice(1, -1) : part, hit });
  }
  return told;
}

/** Programs that fit the words and how they ended: `""`, `"failed"` or `"well"`. */
export function programsThatFit(lines, words, ended) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return lines.filter((line) => {
    if (ended === "failed" && line.exit === 0) return false;
    if (ended === "well" && line.exit !== 0) return false;
    const told = `${line.tool} ${line.argv.join(" ")} ${line.cwd} ${line.session ?? ""} ${line.call ?? ""}`.toLowerCase();
    return wanted.every((word) => told.includes(word));
  });
}

/** `20260801` as `2026-08-01`, and back. */
export function dayShown(day) {
  return `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;
}
