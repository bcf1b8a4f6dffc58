import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFold } from "../../../src/holdfast/surfaces/console/static/timeline/fold.js";
import { rowsOf } from "../../../src/holdfast/surfaces/console/static/timeline/rows.js";

function told(...events) {
  const fold = makeFold();
  tell(fold, ...events);
  return fold;
}

function tell(fold, ...events) {
  for (const event of events) {
    fold.event({
      id: `evt_${fold.facts.last + 1}`, sequence: fold.facts.last + 1, version: 1,
      created_at: "2026-01-01T10:00:00Z", processed_at: "2026-01-01T10:00:00Z", ...event,
    });
  }
}

const kinds = (fold) => fold.entries.map((entry) => entry.kind);
const asked = (id, tool = "read", args = "{}") => ({ type: "call.asked", call_id: id, tool, arguments: args });
const intended = (id) => ({ type: "call.intended", call_id: id, tool: "read", arguments_hash: "", grounds: "the project rule read *", repairs: [] });
const settled = (id, envelope = { ok: true, result: 1 }) => ({ type: "call.settled", call_id: id, tool: "read", envelope });

test("a message of a person waits until it was taken into account", () => {
  const fold = told({ type: "user.message", id: "evt_m", message: "hello", processed_at: null });
  assert.equal(fold.entries[0].waiting, true);
  const before = fold.entries[0].rev;
  tell(fold, { type: "session.events_processed", event_ids: ["evt_m"] });
  assert.equal(fold.entries[0].waiting, false);
  assert.ok(fold.entries[0].rev > before);
});

test("a message is read as soon as the model is asked after it, and one that comes later is not", () => {
  const said = (id) => ({ type: "user.message", id, message: "hello", processed_at: null });
  const fold = told(said("evt_a"), { type: "model.requested", request_id: "msg_1", model: "m", purpose: "summary" });
  assert.equal(fold.entries[0].waiting, true);
  tell(fold, { type: "model.requested", request_id: "msg_2", model: "m", purpose: "turn" }, said("evt_b"));
  assert.deepEqual(fold.entries.filter((one) => one.kind === "said").map((one) => one.waiting), [false, true]);
});

test("a call that is told once more by its use is one call, and a use of its own is one, too", () => {
  const use = (tool) => ({ type: "agent.tool_use", request_id: null, tool_name: tool, input: {}, output: '{"ok":true,"result":1}' });
  const fold = told(asked("cal_1"), intended("cal_1"), settled("cal_1"), use("read"), asked("cal_2"), intended("cal_2"), settled("cal_2"), use("read"), use("read"));
  assert.deepEqual(fold.entries.map((one) => [one.kind, one.ok]), [["call", true], ["call", true], ["call", true]]);
  assert.equal(fold.entries[2].custom, true);
});

test("one new event is one", () => {
  const run = (summary) => told({ type: "span.started", span_kind: "wake", span_id: "wak_1", summary }).entries[0].reason;
  assert.deepEqual(["1 new events", "21 new events", undefined].map(run), ["1 new event", "21 new events", ""]);
});

test("what the model says live becomes the text of its reply under the same key", () => {
  const fold = told({ type: "model.requested", request_id: "msg_1", model: "m", purpose: "turn" });
  assert.deepEqual(kinds(fold), ["asking"]);
  fold.live({ type: "live.reasoning", text: "hm" });
  fold.live({ type: "live.text", text: "Hel" });
  fold.live({ type: "live.text", text: "lo" });
  assert.deepEqual(kinds(fold), ["thought", "text"]);
  const [thought, text] = fold.entries;
  assert.deepEqual([text.text, text.live, thought.text], ["Hello", true, "hm"]);
  tell(fold, { type: "model.replied", request_id: "msg_1", reply: { text: "Hello!", reasoning: "hm." } });
  assert.deepEqual(fold.entries.map((entry) => [entry.key, entry.text, entry.live]), [
    ["thought:msg_1", "hm.", false], ["text:msg_1", "Hello!", false],
  ]);
  tell(fold, { type: "agent.message", message: "Hello!", summary: "Hello!" });
  assert.equal(fold.entries.length, 2);
  assert.equal(fold.entries[1].final, true);
});

test("a call that is told live is replaced by the calls of the reply, in its order", () => {
  const fold = told({ type: "model.requested", request_id: "msg_1", model: "m" });
  fold.live({ type: "live.call", index: 0, id: "x", name: "edit", arguments: '{"pa' });
  fold.live({ type: "live.call", index: 0, id: "x", name: "", arguments: 'th": 1}' });
  assert.deepEqual([fold.entries[0].state, fold.entries[0].tool, fold.entries[0].rawArguments], ["writing", "edit", '{"path": 1}']);
  tell(fold,
    { type: "model.replied", request_id: "msg_1", reply: { calls: [{ id: "cal_1", name: "edit", arguments: "{}" }, { id: "cal_2", name: "read", arguments: "{}" }] } },
    asked("cal_2"), asked("cal_1", "edit"));
  assert.deepEqual(fold.entries.map((entry) => [entry.id, entry.state]), [["cal_1", "asked"], ["cal_2", "asked"]]);
});

test("a call goes its way: asked, waiting, allowed, running, done", () => {
  const fold = told(asked("cal_1"));
  const states = [];
  for (const event of [
    { type: "approval.asked", approval_id: "apr_1", call_id: "cal_1", tool: "read", arguments_hash: "", reason: "why" },
    { type: "agent.tool_use", request_id: "apr_1", tool_name: "read", input: {}, output: null },
    { type: "approval.answered", approval_id: "apr_1", call_id: "cal_1", allowed: true, by: "ada" },
    intended("cal_1"),
    settled("cal_1"),
  ]) {
    tell(fold, event);
    states.push(fold.entries[0].state);
  }
  assert.deepEqual(states, ["waiting", "waiting", "asked", "running", "done"]);
  assert.equal(fold.entries.length, 1);
  assert.deepEqual([fold.entries[0].approval.by, fold.entries[0].grounds], ["ada", "the project rule read *"]);
});

test("whether a call failed is told by ok alone, whatever its result holds", () => {
  const looksBad = { ok: true, result: { ok: false, error: "no", exit_code: 1, is_error: true } };
  const looksGood = { ok: false, kind: "timeout", message: "", result: { ok: true }, retryable: true };
  const fold = told(asked("cal_1"), settled("cal_1", looksBad), asked("cal_2"), settled("cal_2", looksGood));
  assert.deepEqual(fold.entries.map((entry) => [entry.state, entry.ok]), [["done", true], ["failed", false]]);
});

test("a retry is the same call once more behind one that failed, by ok alone", () => {
  const fold = told(
    asked("cal_1", "read", '{"path":"a"}'), settled("cal_1", { ok: false, kind: "not_found", message: "", retryable: false }),
    asked("cal_2", "read", '{"path":"a"}'), settled("cal_2", { ok: true, result: { ok: false } }),
    asked("cal_3", "read", '{"path":"a"}'), settled("cal_3"),
    asked("cal_4", "read", '{"path":"b"}'));
  assert.deepEqual(fold.entries.map((entry) => entry.retryOf ?? null), [null, "call:cal_1", null, null]);
});

test("calls are grouped by ok alone: failures stand for themselves", () => {
  const fold = makeFold();
  const all = Array.from({ length: 30 }, (_, at) => at);
  for (const at of all) {
    tell(fold, asked(`cal_${at}`, at % 2 ? "bash" : "read"));
    const good = at !== 13;
    tell(fold, settled(`cal_${at}`, good ? { ok: true, result: { exit_code: at } } : { ok: false, kind: "execution_error", message: "x" }));
  }
  const rows = rowsOf(fold.entries);
  assert.deepEqual(rows.map((row) => (row.calls ? row.calls.length : row.entry.id)), [13, "cal_13", 16]);
  const open = rowsOf(fold.entries, new Set([rows[0].key]));
  assert.equal(open.length, 3 + 13);
  assert.equal(rowsOf(fold.entries, new Set(), { atWork: true }).length, 2 + 16);
});

test("a run that was ended in the middle leaves no call that is still being written", () => {
  const fold = told(
    { type: "span.started", span_id: "w", span_kind: "wake", name: "run", summary: "1 new events" },
    { type: "model.requested", request_id: "msg_1", model: "m" });
  fold.live({ type: "live.text", text: "Hal" });
  fold.live({ type: "live.call", index: 0, id: "x", name: "edit", arguments: "{" });
  tell(fold, { type: "span.completed", span_id: "w", span_kind: "wake", name: "run", result: "error" });
  assert.deepEqual(kinds(fold), ["wake", "text"]);
  assert.deepEqual([fold.entries[1].live, fold.entries[1].broken], [false, true]);
});

test("a model that gave no reply takes what it had said along, and says what comes next", () => {
  const fold = told({ type: "model.requested", request_id: "msg_1", model: "m" });
  fold.live({ type: "live.text", text: "Hal" });
  tell(fold, { type: "model.failed", request_id: "msg_1", trouble: "rate_limited", message: "slow down", attempt: 1, retry_in_seconds: 4 });
  assert.deepEqual(kinds(fold), ["problem"]);
  assert.match(fold.entries[0].next, /again in 4 s/);
});

test("what a summary costs is not told as words of the agent", () => {
  const fold = told({ type: "model.requested", request_id: "msg_1", model: "m", purpose: "summary" });
  fold.live({ type: "live.text", text: "In short" });
  tell(fold, { type: "model.replied", request_id: "msg_1", reply: { text: "In short" } },
    { type: "context.compacted", summary: "In short", kept_from: 3, automatic: true });
  assert.deepEqual(kinds(fold), ["compaction"]);
});

test("a subagent belongs to the call that handed work over", () => {
  const fold = told(asked("cal_1", "task"), intended("cal_1"),
    { type: "session.child_created", child_session_id: "ses_c", message: "look", outcome_title: "Look" },
    { type: "session.child_waits", call_id: "cal_1", child_session_id: "ses_c", summary: "asks" });
  assert.equal(fold.entries[0].child, "ses_c");
  assert.deepEqual([fold.entries[1].call, fold.entries[1].state], ["cal_1", "waits"]);
  assert.equal(rowsOf(fold.entries).length, 1);
});

test("an event that is told twice counts once", () => {
  const fold = told({ type: "user.message", id: "evt_m", message: "hello" });
  fold.event({ id: "evt_m", type: "user.message", message: "hello", sequence: 1, created_at: "2026-01-01T10:00:00Z" });
  assert.equal(fold.entries.length, 1);
});

test("an event of a kind that nobody knows here is shown, and breaks nothing", () => {
  const fold = told({ type: "tea.served", cups: 2 });
  assert.equal(fold.entries[0].text, "tea.served");
  assert.match(fold.entries[0].detail, /"cups": 2/);
});

test("ten thousand events are folded in the time of a few frames", () => {
  const events = [];
  for (let at = 1; at <= 10000; at += 1) {
    const call = `cal_${Math.floor(at / 4)}`;
    const one = [{ type: "user.message", message: `m ${at}` }, asked(call), intended(call), settled(call)][at % 4];
    events.push({ id: `evt_${at}`, sequence: at, created_at: "2026-01-01T10:00:00Z", ...one });
  }
  const began = performance.now();
  const fold = makeFold();
  for (const event of events) fold.event(event);
  const rows = rowsOf(fold.entries);
  const took = performance.now() - began;
  assert.equal(rows.length, 5000);
  assert.ok(took < 1000, `${took} ms`);
});
