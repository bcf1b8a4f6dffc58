import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../../../src/holdfast/surfaces/console/static/lib/markdown.js";
import { inline, safe } from "../../../src/holdfast/surfaces/console/static/lib/markdown_inline.js";

const types = (text) => parse(text).map((block) => block.type);

test("blocks are told apart", () => {
  const text = "# Title\n\nA line\nand more\n\n- one\n- two\n\n1. first\n2. second\n\n> said\n\n```py\nx = 1\n```\n\n---\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n";
  assert.deepEqual(types(text), ["heading", "paragraph", "list", "list", "quote", "code", "rule", "table"]);
});

test("an ordered list keeps its items apart, and lists stand in lists", () => {
  const [list] = parse("1. First\n2. Second\n   - inner\n   - more\n3. Third");
  assert.equal(list.items.length, 3);
  assert.equal(list.items[1].children[1].items.length, 2);
});

test("tasks know whether they are done", () => {
  const [list] = parse("- [x] done\n- [ ] open\n- plain");
  assert.deepEqual(list.items.map((item) => item.task), [true, false, null]);
});

test("code keeps every sign, also where its end is missing", () => {
  const [code] = parse("```js\nif (a < b) { /* **not** bold */ }\n");
  assert.deepEqual([code.language, code.text.trim(), code.closed], ["js", "if (a < b) { /* **not** bold */ }", false]);
});

test("markup is text", () => {
  const [block] = parse("<img src=x onerror=alert(1)> <script>alert(1)</script>");
  assert.equal(block.children.join(""), "<img src=x onerror=alert(1)> <script>alert(1)</script>");
});

test("spans are told apart", () => {
  assert.deepEqual(inline("a **b** *c* `d` ~~e~~"), [
    "a ", { type: "strong", children: ["b"] }, " ", { type: "em", children: ["c"] }, " ",
    { type: "code", text: "d" }, " ", { type: "del", children: ["e"] },
  ]);
  assert.deepEqual(inline("snake_case_name and 2 * 3 * 4"), ["snake_case_name and 2 * 3 * 4"]);
  assert.deepEqual(inline("\\*plain\\*"), ["*plain*"]);
});

test("only addresses of the web and of mail are links", () => {
  const [link] = inline("[docs](https://example.org/a?b=1)");
  assert.equal(link.href, "https://example.org/a?b=1");
  for (const bad of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "/console/approvals", "JaVaScRiPt:alert(1)", "vbscript:x"]) {
    assert.equal(safe(bad), null);
    assert.notEqual(inline(`[x](${bad})`)[0].type, "link");
  }
  assert.equal(inline("see https://example.org/x.")[1].href, "https://example.org/x");
});

test("a picture of elsewhere is a link, and never fetched", () => {
  const [node] = inline("![alt](https://example.org/x.png)");
  assert.deepEqual([node.type, node.children], ["link", ["alt"]]);
});

test("a hostile text costs little more than a long one", () => {
  const began = performance.now();
  for (const piece of ["*", "**a", "_a ", "[", "![", "`", "``a", "> ", "- ", "<", "~~a", "|", "1. a\n", "[a](", "\\"]) {
    parse(piece.repeat(20000 / piece.length));
    parse(`${piece}\n`.repeat(2000));
  }
  const took = performance.now() - began;
  assert.ok(took < 6000, `${took} ms`);
});

test("one line of forty thousand blanks costs no more than others", () => {
  const blanks = " ".repeat(40_000);
  for (const text of [`# a${blanks}b`, `\`\`\`${blanks}\``, `a${blanks}b\nc`, `- ${blanks}\u2028b`, `${"<a".repeat(20_000)}>`]) {
    const began = performance.now();
    parse(text);
    const took = performance.now() - began;
    assert.ok(took < 400, `${text.slice(0, 6)} took ${took} ms`);
  }
});

test("a table has no more cells than a browser lays out at once", () => {
  const table = (columns, rows) => parse(`${"a|".repeat(columns)}\n${"-|".repeat(columns)}\n${"|\n".repeat(rows)}`);
  assert.deepEqual(table(5_000, 5_000).map((one) => one.type), ["paragraph"]);
  const [large] = table(50, 5_000);
  assert.equal(large.type, "table");
  assert.equal(large.rows.length * large.head.length, 20_000);
  assert.equal(table(2, 5_000)[0].rows.length, 5_000);
});

test("marks that close a heading are no part of it, and marks within it are", () => {
  const words = (text) => parse(text)[0].children.join("");
  assert.equal(words("## Title ##"), "Title");
  assert.equal(words("## C#"), "C#");
  assert.equal(words("# a # b #"), "a # b");
  assert.deepEqual(parse("#")[0], { type: "heading", level: 1, children: [], from: 0, to: 1 });
});
