/**
 * What a person may answer to a question about a call, what that is called, and where an answer
 * stands on its way. Pure: who sends it is not known here.
 */

const HELD = { once: "Allow once", session: "Allow for this session", project: "Allow for this project" };
const TOLD = { once: "once", session: "for this session", project: "for this project" };

/** The ways to allow it: `[{remember, label, key}]`, `key` by its place in the whole list. */
export function waysToAllow(question) {
  return ["once", "session", "project"]
    .map((remember, at) => ({ remember, label: HELD[remember], key: String(at + 1) }))
    .filter((one) => question.offers.includes(one.remember));
}

/** What is sent. A wider answer is only one that is kept. */
export function answerBody(question, { allow, remember = "once", wider = false, note = "" }) {
  const kept = question.offers.includes(remember) ? remember : "once";
  const body = { session_id: question.session_id, allow, remember: kept };
  if (allow && wider && kept !== "once" && question.wider.length > 0) body.wider = true;
  if (note.trim() !== "") body.note = note.trim();
  return body;
}

/** The answer in words. */
export function answerTold({ allow, remember = "once", wider = false, note = "" }) {
  if (!allow) {
    const kept = remember === "session" ? "Rejected for this session" : "Rejected";
    return note.trim() === "" ? kept : `${kept}, with words`;
  }
  return `Allowed ${TOLD[remember]}${wider && remember !== "once" ? ", and what is like it" : ""}`;
}

/**
 * The stages of an answer: `open`, `sending`, `given`, `late` (somebody was faster), `failed`.
 * What comes late does not undo what was told before.
 */
export function stageAfter(stage, happened) {
  if (happened === "sent") return stage === "open" || stage === "failed" ? "sending" : stage;
  if (happened === "taken") return stage === "sending" ? "given" : stage;
  if (happened === "conflict") return stage === "sending" ? "late" : stage;
  if (happened === "refused") return stage === "sending" ? "failed" : stage;
  if (happened === "gone") return stage === "open" || stage === "failed" ? "late" : stage;
  return stage;
}

/** The list as it is now over the list that is shown: who was answered here stays for a moment. */
export function merged(shown, now, held) {
  const ids = new Set(now.map((one) => one.approval_id));
  const staying = shown.filter((one) => !ids.has(one.approval_id) && held(one.approval_id));
  const all = [...now, ...staying];
  return all.sort((one, other) => (one.asked_at < other.asked_at ? -1 : one.asked_at > other.asked_at ? 1 : 0));
}

/** The next place in a list for a step; it stays within. */
export function stepped(ids, chosen, by) {
  if (ids.length === 0) return null;
  const at = ids.indexOf(chosen);
  if (at < 0) return ids[by > 0 ? 0 : ids.length - 1];
  return ids[Math.max(0, Math.min(ids.length - 1, at + by))];
}

/** The arguments that a change tells already, by the tool. */
export function toldByChange(question) {
  if (!question.change?.length) return [];
  return { edit: ["old_string", "new_string"], write: ["content"], apply_patch: ["patch"] }[question.tool] ?? [];
}
