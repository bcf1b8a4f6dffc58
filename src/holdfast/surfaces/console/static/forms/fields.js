/**
 * A JSON Schema as fields that a person can fill in. What no field fits is a field of JSON text.
 *
 * A field: `{kind, title, description, nullable, preset}` and what its kind needs:
 *
 * - `text`: `shortest, longest, pattern, format, examples`
 * - `number`: `whole, least, most, above, below, step`
 * - `boolean`, `null`
 * - `choice`: `values` (any JSON); a constant is a choice of one
 * - `object`: `members: [{name, required, field}]`, `others` (the field of further members, or null)
 * - `list`: `item`, `fewest, most, unique`
 * - `variant`: `options: [field]`
 * - `json`: `why`
 *
 * Fields of members, items and options are made when they are asked for, so that a schema may name
 * itself. Values and how fields look are not known here.
 */

const DEEPEST = 40;

/** The field of a whole schema. */
export function fieldOf(schema) {
  return made(schema, { root: schema, depth: 0, refs: [] });
}

function made(schema, at) {
  if (schema === true || schema === undefined || schema === null) return anything({}, "");
  if (schema === false) return anything({}, "nothing is accepted here");
  if (typeof schema !== "object" || Array.isArray(schema)) return anything({}, "no schema");
  if (at.depth > DEEPEST) return anything(schema, "nested too deeply for a form");
  const known = resolved(schema, at);
  if (known === null) return anything(schema, `${schema.$ref} leads nowhere`);
  return nullableOf(known.schema, known.at);
}

/** The schema that a reference means, with what stands beside the reference. */
function resolved(schema, at) {
  let [here, refs] = [schema, at.refs];
  while (typeof here.$ref === "string") {
    if (refs.includes(here.$ref)) return null;
    const target = pointed(at.root, here.$ref);
    if (target === undefined || typeof target !== "object" || target === null) return null;
    const { $ref, ...beside } = here;
    refs = [...refs, $ref];
    here = { ...target, ...beside };
  }
  if (Array.isArray(here.allOf)) {
    const merged = mergedAll(here, { ...at, refs });
    const telling = Object.entries(here).filter(([word]) => TELLING.has(word));
    const unsaid = { ...Object.fromEntries(telling), "x-json": "several schemas at once" };
    return { schema: merged ?? unsaid, at: { ...at, refs: [] } };
  }
  return { schema: here, at: { ...at, refs: [] } };
}

function pointed(root, ref) {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let here = root;
  for (const step of ref.slice(2).split("/")) {
    const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (here === null || typeof here !== "object" || !Object.hasOwn(here, name)) return undefined;
    here = here[name];
  }
  return here;
}

/** Schemas that all count, as one; null where their words contradict or are not understood. */
function mergedAll(schema, at) {
  const { allOf, ...rest } = schema;
  let whole = rest;
  for (const one of allOf) {
    if (one === true) continue;
    if (one === null || typeof one !== "object") return null;
    const part = resolved(one, at)?.schema;
    if (part === undefined || "x-json" in part) return null;
    whole = mergedTwo(whole, part);
    if (whole === null) return null;
  }
  return whole;
}

function mergedTwo(one, other) {
  const whole = { ...one };
  for (const [word, value] of Object.entries(other)) {
    if (!(word in whole)) whole[word] = value;
    else if (word === "properties") whole.properties = { ...value, ...whole.properties };
    else if (word === "required") whole.required = [...new Set([...whole.required, ...value])];
    else if (TELLING.has(word)) continue;
    else if (JSON.stringify(whole[word]) !== JSON.stringify(value)) return null;
  }
  return whole;
}

const TELLING = new Set(["title", "description", "default", "examples", "$defs", "definitions", "$schema", "$id"]);

/** A choice between something and null is that thing, which may be null. */
function nullableOf(schema, at) {
  const types = Array.isArray(schema.type) ? schema.type : null;
  if (types !== null && types.includes("null") && types.length > 1) {
    const others = types.filter((type) => type !== "null");
    const values = Array.isArray(schema.enum) ? { enum: schema.enum.filter((one) => one !== null) } : {};
    const inner = plainOf({ ...schema, ...values, type: others.length === 1 ? others[0] : others }, at);
    return { ...described(inner, schema), nullable: true };
  }
  const word = alternatives(schema);
  if (word !== null) {
    const options = schema[word];
    const rest = options.filter((one) => !isNull(one));
    if (rest.length === 1 && options.length === 2) {
      const inner = made(rest[0], { ...at, depth: at.depth + 1 });
      return { ...described(inner, schema), nullable: true };
    }
  }
  return plainOf(schema, at);
}

function isNull(schema) {
  return schema !== null && typeof schema === "object" && (schema.type === "null" || schema.const === null);
}

function alternatives(schema) {
  for (const word of ["oneOf", "anyOf"]) {
    if (Array.isArray(schema[word]) && schema[word].length > 0) return word;
  }
  return null;
}

/** A field with what an outer schema says of it. */
function described(field, schema) {
  const told = Object.getOwnPropertyDescriptors(field);
  const whole = Object.defineProperties({}, told);
  if (typeof schema.title === "string") whole.title = schema.title;
  if (typeof schema.description === "string") whole.description = schema.description;
  if ("default" in schema) whole.preset = { value: schema.default };
  return whole;
}

function base(schema, kind) {
  return {
    kind,
    title: typeof schema.title === "string" ? schema.title : "",
    description: typeof schema.description === "string" ? schema.description : "",
    nullable: false,
    preset: "default" in schema ? { value: schema.default } : null,
  };
}

function anything(schema, why) {
  return { ...base(schema, "json"), why };
}

function plainOf(schema, at) {
  if ("x-json" in schema) return anything(schema, schema["x-json"]);
  for (const word of ["not", "if", "$dynamicRef", "dependentSchemas"]) {
    if (word in schema) return anything(schema, `a form cannot say "${word}"`);
  }
  if ("const" in schema) return { ...base(schema, "choice"), values: [schema.const] };
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    return { ...base(schema, "choice"), values: schema.enum };
  }
  const word = alternatives(schema);
  if (word !== null) return variantOf(schema, word, at);
  if (Array.isArray(schema.type)) return severalTypes(schema, at);
  const maker = MAKERS[schema.type ?? guessed(schema)];
  return maker === undefined ? anything(schema, "") : maker(schema, at);
}

function guessed(schema) {
  if ("properties" in schema || "required" in schema) return "object";
  if ("items" in schema || "prefixItems" in schema) return "array";
  if ("pattern" in schema || "minLength" in schema || "maxLength" in schema) return "string";
  return "minimum" in schema || "maximum" in schema ? "number" : "any";
}

function severalTypes(schema, at) {
  const options = schema.type.map((type) => ({ ...schema, type, title: undefined, description: undefined }));
  for (const one of options) delete one.default;
  return variant(schema, options, at);
}

/** What stands beside the alternatives counts for each of them. */
function variantOf(schema, word, at) {
  const { [word]: options, title, description, default: _, ...beside } = schema;
  const shared = Object.keys(beside).filter((name) => !TELLING.has(name));
  if (shared.length === 0) return variant(schema, options, at);
  const merged = options.map((one) => {
    const part = one !== null && typeof one === "object" ? resolved(one, at)?.schema : undefined;
    return part === undefined ? null : mergedTwo(part, Object.fromEntries(shared.map((name) => [name, beside[name]])));
  });
  if (merged.includes(null)) return anything(schema, `a form cannot say this "${word}"`);
  return variant(schema, merged, at);
}

function variant(schema, options, at) {
  const field = base(schema, "variant");
  return lazily(field, "options", () => options.map((one) => made(one, { ...at, depth: at.depth + 1 })));
}

/** A part of a field that is made when it is first asked for. */
function lazily(field, name, make) {
  let known;
  Object.defineProperty(field, name, { enumerable: true, configurable: true, get: () => (known ??= make()) });
  return field;
}

const MAKERS = {
  string: (schema) => ({
    ...base(schema, "text"),
    shortest: schema.minLength ?? 0,
    longest: schema.maxLength ?? null,
    pattern: typeof schema.pattern === "string" ? schema.pattern : null,
    format: typeof schema.format === "string" ? schema.format : null,
    examples: Array.isArray(schema.examples) ? schema.examples : [],
  }),
  number: (schema) => number(schema, false),
  integer: (schema) => number(schema, true),
  boolean: (schema) => base(schema, "boolean"),
  null: (schema) => base(schema, "null"),
  object: (schema, at) => {
    const inside = { ...at, depth: at.depth + 1 };
    const required = Array.isArray(schema.required) ? schema.required : [];
    const properties = Object.entries(schema.properties ?? {});
    const unnamed = required.filter((name) => !Object.hasOwn(schema.properties ?? {}, name));
    const field = base(schema, "object");
    lazily(field, "members", () => [
      ...properties.map(([name, one]) => ({ name, required: required.includes(name), field: made(one, inside) })),
      ...unnamed.map((name) => ({ name, required: true, field: anything({}, "") })),
    ]);
    return lazily(field, "others", () => others(schema, properties.length, inside));
  },
  array: (schema, at) => {
    if ("prefixItems" in schema || Array.isArray(schema.items)) return anything(schema, "items of different kinds");
    const field = {
      ...base(schema, "list"),
      fewest: schema.minItems ?? 0,
      most: schema.maxItems ?? null,
      unique: schema.uniqueItems === true,
    };
    return lazily(field, "item", () => made(schema.items, { ...at, depth: at.depth + 1 }));
  },
};

function number(schema, whole) {
  return {
    ...base(schema, "number"),
    whole,
    least: schema.minimum ?? null,
    most: schema.maximum ?? null,
    above: schema.exclusiveMinimum ?? null,
    below: schema.exclusiveMaximum ?? null,
    step: schema.multipleOf ?? null,
  };
}

/** Members that no name is given for: offered where the schema speaks of them, or of none. */
function others(schema, named, at) {
  if (schema.additionalProperties === false) return null;
  if (schema.additionalProperties !== undefined) return made(schema.additionalProperties, at);
  if ("patternProperties" in schema) return anything({}, "");
  return named === 0 ? anything({}, "") : null;
}
