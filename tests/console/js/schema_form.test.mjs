import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { argumentsText, begun, blank, fieldOf, kindName, modelOf, modelOfText, problems, valueOf } from "../../../src/holdfast/surfaces/console/static/forms/schema_form.js";
import { read, same } from "../../../src/holdfast/surfaces/console/static/text/json_text.js";
import { someOf } from "./some_values.mjs";

const REF = {
  type: "object",
  properties: { name: { type: "string" }, under: { type: "array", items: { $ref: "#" } } },
  required: ["name"],
  additionalProperties: false,
};
const TAGGED = {
  oneOf: [
    { type: "object", properties: { type: { const: "circle" }, radius: { type: "number" } }, required: ["type", "radius"] },
    { type: "object", properties: { type: { enum: ["box"] }, wide: { type: "integer" }, high: { type: "integer" } }, required: ["type", "wide"] },
  ],
};
/** What a schema takes, and what stays as it was on the way through a form. */
const CASES = [
  [{ type: "string" }, ["", "a", "line\nline", "\u202e", '{"a":1}']],
  [{ type: "integer" }, [0, -5, 9007199254740991]],
  [{ type: "number" }, [0.5, -1e21, 3]],
  [{ type: "boolean" }, [true, false]],
  [{ type: "null" }, [null]],
  [{ enum: ["a", 1, null, { b: [2] }, false] }, ["a", 1, null, { b: [2] }, false]],
  [{ const: 7 }, [7]],
  [{ type: ["string", "null"] }, ["x", null]],
  [{ type: ["string", "null"], enum: ["x", "y", null] }, ["x", "y", null]],
  [{ type: ["integer", "string", "null"] }, [1, "1", null]],
  [{ anyOf: [{ type: "string" }, { type: "null" }], default: null }, ["x", null]],
  [{ anyOf: [{ type: "integer" }, { type: "array", items: { type: "integer" } }] }, [1, [1, 2], []]],
  [{ type: "array", items: { type: "array", items: { type: "string" } } }, [[], [[]], [["a"], ["b", "c"]]]],
  [{ type: "object" }, [{}, { a: 1, b: { c: [null] } }]],
  [{ type: "object", additionalProperties: { type: "integer" } }, [{}, { a: 1, __proto__x: 2 }]],
  [{ type: "object", properties: { a: { type: "string" } } }, [{}, { a: "x" }, { a: "x", unknown: [1] }]],
  [{ properties: { a: {}, b: true }, required: ["b"] }, [{ b: 1 }, { a: { x: [] }, b: null }]],
  [REF, [{ name: "a" }, { name: "a", under: [{ name: "b", under: [] }, { name: "c" }] }]],
  [TAGGED, [{ type: "circle", radius: 1.5 }, { type: "box", wide: 2 }, { type: "box", wide: 2, high: 3 }]],
  [{ $defs: { p: { type: "string", minLength: 1 } }, type: "object", properties: { "a/b": { $ref: "#/$defs/p" } } }, [{ "a/b": "x" }]],
  [{ allOf: [{ type: "object", properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: { type: "integer" } } }] }, [{ a: "x", b: 1 }]],
  [{ type: "array", prefixItems: [{ type: "string" }, { type: "integer" }] }, [["a", 1]]],
  [{ not: { type: "string" } }, [1, null, []]],
  [true, [1, "a", null, { a: [] }]],
  [{}, [1, "a", null, { a: [] }]],
  [{ $ref: "#/nowhere" }, [1]],
  [{ $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }, [1]],
  [{ allOf: [{ type: "string" }, { type: "integer" }] }, ["a", 1]],
];

test("what stands in a form comes out of it as it went in", () => {
  for (const [schema, values] of CASES) {
    for (const value of values) {
      const field = fieldOf(schema);
      const again = valueOf(field, modelOf(field, value));
      assert.deepEqual(again, value, `${JSON.stringify(schema)} ${JSON.stringify(value)}`);
      assert.deepEqual(problems(field, modelOf(field, value)), [], JSON.stringify(value));
    }
  }
});

test("a value that does not fit stays as JSON text and comes out as it went in", () => {
  for (const [schema] of CASES) {
    for (const value of [1.5, "a", true, null, [[1]], { a: { b: 1 }, z: "y" }]) {
      const field = fieldOf(schema);
      assert.deepEqual(valueOf(field, modelOf(field, value)), value, JSON.stringify([schema, value]));
    }
  }
});

test("arguments written as text keep their numbers and the order of their members", () => {
  const field = fieldOf({ type: "object", properties: { a: { type: "integer" }, b: { type: "number" } } });
  const text = '{"b":1.0,"x":[1e2],"a":12345678901234567890}';
  assert.equal(argumentsText(field, modelOfText(field, text)), text);
  assert.equal(modelOfText(field, "{"), null);
});

test("an untouched form sends what is required and leaves the rest out", () => {
  const field = fieldOf({
    type: "object",
    properties: {
      path: { type: "string" },
      limit: { type: "integer", default: 20 },
      mode: { enum: ["a", "b"] },
      kind: { const: "x" },
      deep: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] },
      many: { type: "array", items: { type: "string" }, minItems: 2 },
      preset: { type: "integer", default: 3 },
    },
    required: ["path", "kind", "deep", "many", "preset"],
  });
  const model = blank(field);
  assert.equal(argumentsText(field, model), '{"path":"","kind":"x","deep":{"on":false},"many":["",""],"preset":3}');
  model.members.limit = begun(field.members.find((one) => one.name === "limit").field);
  assert.equal(valueOf(field, model).limit, 20);
  const note = fieldOf({ type: ["string", "null"], default: null });
  assert.equal(valueOf(note, blank(note)), null);
  assert.equal(valueOf(note, begun(note)), "");
});

test("what is not filled in as it has to be is told where it stands", () => {
  const field = fieldOf({
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, maxLength: 3, pattern: "^[a-z]*$" },
      size: { type: "integer", minimum: 1, maximum: 10, multipleOf: 2 },
      ratio: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
      mode: { enum: ["a", "b"] },
      tags: { type: "array", items: { type: "string", minLength: 1 }, minItems: 1, maxItems: 2, uniqueItems: true },
      any: {},
    },
    required: ["name", "mode"],
  });
  const told = (value, change = () => {}) => {
    const model = modelOf(field, value);
    change(model);
    return problems(field, model).map((one) => `${one.path}: ${one.message}`);
  };
  assert.deepEqual(told({ name: "ab", mode: "a" }), []);
  assert.deepEqual(told({ mode: "a" }), ["name: It is needed."]);
  assert.deepEqual(told({ name: "", mode: "a" }), ["name: It is needed."]);
  assert.deepEqual(told({ name: "abcd", mode: "a" }), ["name: At most 3 characters."]);
  assert.deepEqual(told({ name: "A", mode: "a" }), ["name: It has to match ^[a-z]*$"]);
  assert.deepEqual(told({ name: "a", mode: "a", size: 0 }), ["size: At least 1."]);
  assert.deepEqual(told({ name: "a", mode: "a", size: 12 }), ["size: At most 10."]);
  assert.deepEqual(told({ name: "a", mode: "a", size: 3 }), ["size: A multiple of 2."]);
  assert.deepEqual(told({ name: "a", mode: "a", size: 2.5 }), ["size: A whole number is needed."]);
  assert.deepEqual(told({ name: "a", mode: "a", ratio: 1 }), ["ratio: Less than 1."]);
  assert.deepEqual(told({ name: "a", mode: "a", ratio: 0 }), ["ratio: More than 0."]);
  assert.deepEqual(told({ name: "a", mode: "a", tags: [] }), ["tags: At least 1 are needed."]);
  assert.deepEqual(told({ name: "a", mode: "a", tags: ["x", ""] }), ["tags[1]: It is needed."]);
  assert.deepEqual(told({ name: "a", mode: "a", tags: ["x", "x"] }), ["tags: Each has to be another one."]);
  assert.deepEqual(told({ name: "a", mode: "a" }, (m) => (m.members.mode.at = -1)), ["mode: Choose one."]);
  assert.deepEqual(told({ name: "a", mode: "a", any: 1 }, (m) => (m.members.any.raw = "{")), ["any: This is not JSON yet."]);
  assert.deepEqual(told({ name: "a", mode: "a", size: 2 }, (m) => (m.members.size.text = "0x1")), ["size: This is not a number."]);
  assert.deepEqual(told({ name: "a", mode: "a" }, (m) => m.others.push({ name: "mode", model: modelOf(fieldOf(true), 1) })), ["mode: There is such a name."]);
});

test("what can be chosen has a name to choose it by", () => {
  const names = (schema) => fieldOf(schema).options.map(kindName);
  assert.deepEqual(names(TAGGED), ["circle", "box"]);
  assert.deepEqual(names({ anyOf: [{ type: "integer" }, { type: "array", items: { type: "string" } }, { title: "Third" }] }), ["whole number", "list of text", "Third"]);
});

test("every tool there is has a form, and what fits its schema comes through it unchanged", { skip: !process.env.TOOL_SCHEMAS }, () => {
  const tools = JSON.parse(readFileSync(process.env.TOOL_SCHEMAS, "utf8"));
  assert.ok(tools.length > 20);
  for (const { name, schema } of tools) {
    const field = fieldOf(schema);
    assert.equal(field.kind, "object", name);
    assert.ok(same(read(argumentsText(field, blank(field))).value, valueOf(field, blank(field)) ?? {}), name);
    for (let seed = 1; seed <= 20; seed += 1) {
      const value = someOf(field, seed);
      const text = JSON.stringify(value);
      assert.equal(argumentsText(field, modelOfText(field, text)), text, `${name} ${text}`);
    }
  }
});
