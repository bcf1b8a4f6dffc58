import assert from "node:assert/strict";
import { test } from "node:test";
import { treeOf } from "../../../src/holdfast/surfaces/console/static/cards/listing.js";
import { partsOf } from "../../../src/holdfast/surfaces/console/static/cards/markers.js";
import { cameOf, mainArgument } from "../../../src/holdfast/surfaces/console/static/cards/summary.js";
import { counted, diffRows } from "../../../src/holdfast/surfaces/console/static/lib/diff.js";
import { age, bytes, duration } from "../../../src/holdfast/surfaces/console/static/lib/format.js";
import { patchFiles } from "../../../src/holdfast/surfaces/console/static/lib/patch.js";
import { match } from "../../../src/holdfast/surfaces/console/static/lib/router.js";
import { statusOf } from "../../../src/holdfast/surfaces/console/static/pages/session_words.js";
import { sseReader } from "../../../src/holdfast/surfaces/console/static/lib/sse.js";
import { ends, plainOutput } from "../../../src/holdfast/surfaces/console/static/lib/terminal_text.js";
import { heightTree } from "../../../src/holdfast/surfaces/console/static/timeline/heights.js";

test("messages of a stream are read in whatever pieces they come", () => {
  const text = ': quiet\n\nid: 7\nevent: event\ndata: {"a":\ndata: 1}\n\nevent: live\r\ndata: x\r\n\r\nevent: none\n\n';
  for (let size = 1; size < text.length; size += 1) {
    const reader = sseReader();
    const told = [];
    for (let at = 0; at < text.length; at += size) told.push(...reader.feed(text.slice(at, at + size)));
    assert.deepEqual(told, [{ event: "event", data: '{"a":\n1}', id: "7" }, { event: "live", data: "x", id: null }], `pieces of ${size}`);
  }
});

test("a tree is drawn from entries alone", () => {
  const tree = treeOf([
    { name: "b.txt", path: "src/b.txt", type: "file" }, { name: "lib", path: "src/lib", type: "directory" },
    { name: "a", path: "src/lib/a", type: "file" },
  ], "src");
  assert.deepEqual(tree.children.map((one) => [one.name, one.directory]), [["lib", true], ["b.txt", false]]);
  assert.equal(tree.children[0].children[0].path, "src/lib/a");
});

test("charts and artifacts are found by their markers; a broken block stays text", () => {
  const text = 'Shared it.\n---SHARED_ARTIFACT_START---\n{"filename":"a.md"}\n# A\n---SHARED_ARTIFACT_END---\nand\n---CHART_START---\nno json\n---CHART_END---';
  const parts = partsOf(text);
  assert.deepEqual(parts.map((one) => one.type), ["text", "artifact", "text"]);
  assert.deepEqual([parts[1].about.filename, parts[1].text], ["a.md", "# A"]);
  assert.match(parts[2].text, /---CHART_START---/);
});

test("lines that changed stand beside each other", () => {
  const rows = diffRows("a\nb\nc\n", "a\nB\nc\nd\n");
  assert.deepEqual(rows.map((row) => [row.kind, row.left?.text, row.right?.text]), [
    ["same", "a", "a"], ["changed", "b", "B"], ["same", "c", "c"], ["added", undefined, "d"],
  ]);
  assert.deepEqual(counted(rows), { added: 2, removed: 1 });
});

test("what a diff leaves out is only what is the same", () => {
  const lines = Array.from({ length: 200 }, (_, at) => `line ${at}`);
  const after = lines.map((line, at) => (at === 100 ? "other" : line));
  const rows = diffRows(lines.join("\n"), after.join("\n"));
  assert.deepEqual(rows.map((row) => row.kind), ["gap", "same", "same", "same", "changed", "same", "same", "same", "gap"]);
  assert.deepEqual([rows[4].left.number, rows[4].left.text, rows[4].right.text], [101, "line 100", "other"]);
});

test("the steps of a diff lead from one text to the other, whatever they are", () => {
  let seed = 7;
  const dice = (most) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % most;
  };
  for (let round = 0; round < 300; round += 1) {
    const text = () => Array.from({ length: dice(14) }, () => "abcd"[dice(4)]).join("\n");
    const [before, after] = [text(), text()];
    const rows = diffRows(before, after, { around: 1000 });
    const side = (name) => rows.filter((row) => row[name]).map((row) => row[name].text).join("\n");
    const known = (one) => one.replace(/\n$/, "");
    assert.equal(side("left"), rows.length ? known(before) : side("left"), JSON.stringify([before, after]));
    assert.equal(side("right"), rows.length ? known(after) : side("right"), JSON.stringify([before, after]));
  }
});

test("both forms of a patch are read", () => {
  const starred = patchFiles("*** Begin Patch\n*** Update File: a.py\n@@ def main():\n-    x\n+    y\n*** Add File: b.md\n+# B\n*** Delete File: c\n*** End Patch\n");
  assert.deepEqual(starred.map((file) => [file.path, file.change, counted(file.rows)]), [
    ["a.py", "changed", { added: 1, removed: 1 }], ["b.md", "added", { added: 1, removed: 0 }], ["c", "deleted", { added: 0, removed: 0 }],
  ]);
  const unified = patchFiles("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@ f\n same\n--- not a header\n+++ neither\n");
  assert.deepEqual([unified.length, unified[0].path, counted(unified[0].rows)], [1, "x", { added: 1, removed: 1 }]);
  assert.equal(unified[0].rows[1].left.number, 3);
  assert.equal(patchFiles("hello"), null);
});

test("printed text loses its colours, and a line that was written over shows its end", () => {
  assert.equal(plainOutput("\u001b[31mred\u001b[0m \u001b]0;title\u0007x"), "red x");
  assert.equal(plainOutput("10%\r50%\r100%\ndone"), "100%\ndone");
  assert.deepEqual(ends("1\n2\n3\n4\n5\n6\n7\n8\n", 2, 2), { head: "1\n2", tail: "7\n8", skipped: 4, lines: 8 });
});

test("heights add up, and every place is found again", () => {
  const tree = heightTree([10, 20, 30]);
  for (let at = 0; at < 500; at += 1) tree.push(5 + (at % 7));
  tree.set(1, 100);
  let sum = 0;
  for (let at = 0; at < tree.count(); at += 1) {
    assert.equal(tree.sum(at), sum);
    assert.equal(tree.at(sum), at);
    sum += tree.get(at);
    assert.equal(tree.at(sum - 0.5), at);
  }
  assert.equal(tree.total(), sum);
  assert.equal(tree.at(1e9), tree.count() - 1);
});

test("an address fits a page by its parts", () => {
  const parts = (path) => path.split("/").filter(Boolean);
  assert.deepEqual(match(parts("/console/sessions/:id"), parts("/console/sessions/ses%201")), { id: "ses 1" });
  assert.equal(match(parts("/console/sessions/:id"), parts("/console/sessions")), null);
  assert.equal(match(parts("/console/:id"), parts("/console/%zz")), null);
});

test("numbers read well", () => {
  assert.deepEqual([bytes(999), bytes(1234), bytes(5e6)], ["999 B", "1.2 KB", "5.0 MB"]);
  assert.deepEqual([duration(12), duration(1234), duration(65000), duration(3600000)], ["12 ms", "1.2 s", "1 min 5 s", "1 h"]);
  assert.equal(age("2026-01-01T10:00:00Z", Date.parse("2026-01-01T13:00:00Z")), "3h");
});

test("the head of a call tells its main argument and what came of it", () => {
  assert.equal(mainArgument({ tool: "bash", arguments: { timeout_ms: 5, command: "ls\n-l" } }), "ls");
  assert.equal(mainArgument({ tool: "x", arguments: null, rawArguments: "{bad" }), "{bad");
  assert.equal(cameOf({ envelope: { ok: true, result: { kind: "listing", entry_count: 1, entries: [] } } }), "1 entry");
});

test("a session that waits for words of a person is not said to wait for an approval", () => {
  const row = (approvals) => ({ reported: "waiting_on_approval", waiting: { approvals, questions: 0, requests: 0 } });
  assert.equal(statusOf(row(1))[0], "waits for approval");
  assert.equal(statusOf(row(0))[0], "waits for you");
});
