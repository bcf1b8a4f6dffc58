import assert from "node:assert/strict";
import test from "node:test";
import { answerBody, answerTold, merged, stageAfter, stepped, toldByChange, waysToAllow } from "../../../src/holdfast/surfaces/console/static/review/answers.js";
import { begunReplies, chosen, misfits, repliesOf, worded } from "../../../src/holdfast/surfaces/console/static/review/replies.js";
import { compared, counted, sideBySide } from "../../../src/holdfast/surfaces/console/static/review/side_by_side.js";
import { excerptParts, programsThatFit } from "../../../src/holdfast/surfaces/console/static/review/wire.js";

const textOf = (side) => side?.map((one) => one.text).join("") ?? null;
const marked = (side) => side.map((one) => (one.changed ? `[${one.text}]` : one.text)).join("");

test("lines that went stand beside the lines that came", () => {
  const rows = sideBySide([" a", "-b one", "-c", "+b two", " d", "+e", ""]);
  assert.deepEqual(rows.map((row) => [row.kind, textOf(row.left), textOf(row.right)]), [
    ["same", "a", "a"],
    ["changed", "b one", "b two"],
    ["gone", "c", null],
    ["same", "d", "d"],
    ["come", null, "e"],
    ["same", "", ""],
  ]);
  assert.deepEqual(counted(rows), { come: 2, gone: 2 });
});

test("nothing that stands in a change is lost on the way to its two sides", () => {
  const lines = ["--- a.py", "*** Update File: a.py", "@@", "-x", "--y", "+z", "++w", "no sign"];
  const rows = sideBySide(lines);
  const left = rows.flatMap((row) => (row.kind === "heading" ? [textOf(row.left)] : row.kind === "come" ? [] : [`-${textOf(row.left)}`]));
  assert.deepEqual(left, ["---- a.py".slice(1), "*** Update File: a.py", "@@", "-x", "--y", "no sign"]);
  assert.deepEqual(rows.flatMap((row) => (["come", "changed"].includes(row.kind) ? [textOf(row.right)] : [])), ["z", "+w"]);
});

test("of two lines the words that differ are marked", () => {
  const [left, right] = compared("return total + one", "return total + other");
  assert.equal(marked(left), "return total + [one]");
  assert.equal(marked(right), "return total + [other]");
  const [gone, come] = compared("alpha", "omega psi");
  assert.equal(marked(gone), "[alpha]");
  assert.equal(marked(come), "[omega psi]");
  assert.equal(marked(compared("x".repeat(5000), "y")[0]).length, 5002);
});

const QUESTION = { session_id: "ses_1", offers: ["once", "session"], wider: ["git log *"], tool: "edit", change: ["+a"], reason: "" };

test("only what is offered can be answered", () => {
  assert.deepEqual(waysToAllow(QUESTION).map((one) => [one.key, one.remember]), [["1", "once"], ["2", "session"]]);
  assert.deepEqual(answerBody(QUESTION, { allow: true, remember: "project", wider: true }), { session_id: "ses_1", allow: true, remember: "once" });
  assert.deepEqual(answerBody(QUESTION, { allow: true, remember: "session", wider: true }), { session_id: "ses_1", allow: true, remember: "session", wider: true });
  assert.deepEqual(answerBody({ ...QUESTION, wider: [] }, { allow: true, remember: "session", wider: true }), { session_id: "ses_1", allow: true, remember: "session" });
  assert.deepEqual(answerBody(QUESTION, { allow: false, note: "  use git mv \n", wider: true }), { session_id: "ses_1", allow: false, remember: "once", note: "use git mv" });
  assert.equal(answerTold({ allow: true, remember: "session", wider: true }), "Allowed for this session, and what is like it");
  assert.equal(answerTold({ allow: false, note: "x", remember: "session" }), "Rejected for this session, with words");
  assert.deepEqual(toldByChange(QUESTION), ["old_string", "new_string"]);
  assert.deepEqual(toldByChange({ ...QUESTION, change: [] }), []);
});

test("an answer is told as given only once it was taken", () => {
  assert.equal(stageAfter("open", "sent"), "sending");
  assert.equal(stageAfter("sending", "taken"), "given");
  assert.equal(stageAfter("sending", "conflict"), "late");
  assert.equal(stageAfter("sending", "refused"), "failed");
  assert.equal(stageAfter("failed", "sent"), "sending");
  assert.equal(stageAfter("open", "gone"), "late");
  for (const stage of ["sending", "given", "late"]) assert.equal(stageAfter(stage, "gone"), stage);
  for (const stage of ["given", "late"]) assert.equal(stageAfter(stage, "sent"), stage);
});

test("who was answered a moment ago stays in the list, where they stood", () => {
  const one = (id, at) => ({ approval_id: id, asked_at: at });
  const shown = [one("a", "1"), one("b", "2"), one("c", "3")];
  const ids = (held) => merged(shown, [one("c", "3"), one("d", "4")], (id) => held.includes(id)).map((each) => each.approval_id);
  assert.deepEqual(ids(["b"]), ["b", "c", "d"]);
  assert.deepEqual(ids([]), ["c", "d"]);
  assert.equal(stepped(["a", "b"], "a", 1), "b");
  assert.equal(stepped(["a", "b"], "b", 1), "b");
  assert.equal(stepped(["a", "b"], null, 1), "a");
  assert.equal(stepped([], "a", 1), null);
});

const QUESTIONS = [
  { question: "Which?", options: [{ label: "SQLite" }, { label: "PostgreSQL" }] },
  { question: "Where?", multi_select: true, options: [{ label: "here" }, { label: "there" }] },
  { question: "Why?" },
];

test("replies are one list a question, an option or own words", () => {
  const models = begunReplies(QUESTIONS);
  assert.deepEqual(misfits(QUESTIONS, models).map((one) => one.at), [0, 2]);
  chosen(models[0], 1, true, false);
  chosen(models[0], 0, true, false);
  chosen(models[1], 1, true, true);
  chosen(models[1], 0, true, true);
  worded(models[1], " elsewhere ", true);
  worded(models[2], "because", false);
  assert.deepEqual(repliesOf(QUESTIONS, models), [["SQLite"], ["here", "there", "elsewhere"], ["because"]]);
  assert.deepEqual(misfits(QUESTIONS, models), []);
});

test("own words take the place of an option where one answer is wanted, and the other way round", () => {
  const models = begunReplies(QUESTIONS);
  chosen(models[0], 1, true, false);
  worded(models[0], "DuckDB", false);
  assert.deepEqual(repliesOf(QUESTIONS, models)[0], ["DuckDB"]);
  chosen(models[0], 1, true, false);
  assert.deepEqual(repliesOf(QUESTIONS, models)[0], ["PostgreSQL"]);
});

test("of an excerpt only what was searched for is marked, not whatever stands in brackets", () => {
  assert.deepEqual(excerptParts("f([total]) argv[1:] [Totals]", "total"), [
    { text: "f(", hit: false }, { text: "total", hit: true }, { text: ") argv[1:] ", hit: false }, { text: "Totals", hit: true },
  ]);
});

test("programs are found by their words and by how they ended", () => {
  const lines = [{ tool: "bash", argv: ["bash", "-c"], cwd: "/w", exit: 0, session: "ses_1" }, { tool: "run", argv: ["git"], cwd: "/w", exit: -1 }];
  assert.equal(programsThatFit(lines, "", "").length, 2);
  assert.deepEqual(programsThatFit(lines, "GIT /w", "").map((one) => one.tool), ["run"]);
  assert.deepEqual(programsThatFit(lines, "", "failed").map((one) => one.tool), ["run"]);
  assert.deepEqual(programsThatFit(lines, "ses_1", "well").map((one) => one.tool), ["bash"]);
});
