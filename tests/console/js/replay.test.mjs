import assert from "node:assert/strict";
import test from "node:test";
import { changed, firstPlace, rowsOf } from "../../../src/holdfast/surfaces/console/static/replay/difference.js";
import { LONGEST_PAUSE_MS, makeTape, marks, pauses } from "../../../src/holdfast/surfaces/console/static/replay/tape.js";

/** A clock that a test turns. */
function turned() {
  const waiting = new Map();
  let number = 0;
  return {
    waiting,
    set: (run, ms) => {
      waiting.set((number += 1), { run, ms });
      return number;
    },
    clear: (id) => waiting.delete(id),
    next() {
      const [[id, one]] = waiting;
      waiting.delete(id);
      one.run();
      return one.ms;
    },
  };
}

test("a tape tells its events with the pauses they had, long ones cut", () => {
  assert.deepEqual(pauses([0, 100, 90, 100000]), [0, 100, 0, LONGEST_PAUSE_MS]);
  const timers = turned();
  const moved = [];
  const states = [];
  const tape = makeTape([0, 100, 100, 400], { timers, onMove: (at) => moved.push(at), onState: (playing) => states.push(playing) });
  assert.equal(tape.at, 4);
  tape.play();
  assert.deepEqual([timers.next(), timers.next(), timers.next()], [16, 100, 300]);
  assert.deepEqual(moved, [0, 1, 3, 4]);
  assert.deepEqual(states, [true, false]);
  assert.equal(timers.waiting.size, 0);
});

test("a tape is stepped, moved and sped up, and stays within its ends", () => {
  const timers = turned();
  const tape = makeTape([0, 100, 200, 300], { timers });
  tape.step(-1);
  assert.equal(tape.at, 3);
  tape.step(9);
  assert.equal(tape.at, 4);
  tape.seek(-3);
  assert.equal(tape.at, 0);
  tape.play();
  tape.seek(1);
  assert.equal(timers.waiting.size, 1);
  tape.setSpeed(2);
  assert.equal(timers.next(), 50);
  tape.step(-1);
  assert.ok(!tape.playing);
  assert.equal(timers.waiting.size, 0);
});

test("a tape without events plays nothing", () => {
  const timers = turned();
  const tape = makeTape([], { timers });
  tape.play();
  assert.ok(!tape.playing && timers.waiting.size === 0);
});

test("marks keep what matters most where many events share a place", () => {
  const events = [{ type: "model.requested" }, { type: "call.settled", envelope: { ok: false } }, { type: "user.message" }, { type: "span.started" }];
  assert.deepEqual(marks(events, 2), ["bad", "person"]);
  assert.deepEqual(marks(events, 10), ["model", "bad", "person", "other"]);
});

test("the first place where two events part is named", () => {
  assert.equal(firstPlace({ a: 1 }, { a: 1 }), null);
  assert.equal(firstPlace({ b: 1, a: [1, { "x y": 2 }] }, { b: 2, a: [1, { "x y": 3 }] }), '$.a[1]["x y"]');
  assert.equal(firstPlace("one", "other"), "$");
  assert.equal(firstPlace({ a: 1 }, undefined), "$");
  assert.equal(firstPlace([1], [1, 2]), "$[1]");
});

test("two texts stand side by side, line by line", () => {
  assert.deepEqual(changed(["a", "b", "c"], ["a", "x", "c", "d"]), [" a", "-b", "+x", " c", "+d"]);
  assert.deepEqual(changed(["a", "b"], ["a", "b"]), [" a", " b"]);
  assert.deepEqual(changed([], ["a"]), ["+a"]);
  const rows = rowsOf({ type: "call.intended" }, { type: "call.refused" });
  assert.deepEqual(rows.map((row) => row.kind), ["same", "changed", "same"]);
  assert.equal(rowsOf("x", undefined)[0].right.map((one) => one.text).join(""), "(nothing)");
});
