import assert from "node:assert/strict";
import test from "node:test";
import { ExactNumber, laidOut, pretty, read, same, write } from "../../../src/holdfast/surfaces/console/static/text/json_text.js";
import { hasUnseen, visible } from "../../../src/holdfast/surfaces/console/static/text/visible.js";

test("a text is laid out without one of its pieces being changed", () => {
  const sent = '{"n":12345678901234567890,"n":1.0e5,"t":"a\\u0041\\n","l":[],"o":{},"x":[1,{"a":null}]}';
  const laid = pretty(sent);
  assert.equal(laid.replaceAll(/\n *|(?<=:) /g, ""), sent);
  assert.match(laid, /"n": 12345678901234567890,\n {2}"n": 1\.0e5/);
  assert.deepEqual(laidOut('{"a":1}').map((one) => one.kind), [
    "mark", "space", "key", "mark", "space", "number", "space", "mark",
  ]);
});

test("what is no JSON is not laid out, and not read", () => {
  for (const text of ["", "{", "{a:1}", "[1,]", "01", '{"a":1}}', "'a'", '"\t"', "nul", "[1 2]", '{"a" 1}', "-", "\u00a01"]) {
    assert.equal(pretty(text), null, text);
    assert.equal(read(text), null, text);
  }
});

test("a text is read as JSON.parse reads it", () => {
  for (const text of ["0", "-0.5", "1.5", '"\\u00e9\\ud83d\\ude00"', "[]", "{}", "[[],{}]", ' { "a" : [ 1 , true , null ] } ']) {
    assert.deepEqual(read(text).value, JSON.parse(text), text);
  }
  assert.ok(Object.hasOwn(read('{"__proto__":1}').value, "__proto__"));
});

test("a number that would be rounded stays as it is written", () => {
  for (const text of ["12345678901234567890", "1.0", "-0", "1e400", "1e3", "0.1000000000000000055511151231257827"]) {
    const found = read(text).value;
    assert.ok(found instanceof ExactNumber, text);
    assert.equal(write(found), text);
  }
  assert.equal(read("9007199254740991").value, 9007199254740991);
});

test("a member that stands twice is told", () => {
  assert.deepEqual(read('{"a":1,"a":2,"b":{"c":1,"c":2}}'), { value: { a: 2, b: { c: 2 } }, twice: ["a", "c"] });
});

test("a text nested without end is not read", () => {
  assert.equal(read("[".repeat(5000) + "]".repeat(5000)), null);
});

test("values are the same whatever the order of their members", () => {
  assert.ok(same({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }));
  for (const [one, other] of [[{ a: 1 }, { a: 1, b: 1 }], [[1], [1, 2]], [null, {}], [{}, []], [1, "1"]]) {
    assert.ok(!same(one, other));
  }
  assert.ok(same(read("1.0").value, read("1.0").value));
  assert.ok(!same(read("1.0").value, 1));
});

test("characters that nobody sees are told by their numbers", () => {
  assert.deepEqual(visible("a\u202eb"), [
    { text: "a", unseen: false },
    { text: "U+202E", unseen: true },
    { text: "b", unseen: false },
  ]);
  for (const text of ["\u001b[31m", "a\u200bb", "\ud800", "\u{e0041}", "\u00ad", "a\rb"]) assert.ok(hasUnseen(text), text);
  for (const text of ["line\n\ttab", "äöü 漢字 😀", ""]) assert.ok(!hasUnseen(text), text);
});
