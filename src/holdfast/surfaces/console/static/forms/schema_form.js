/**
 * What a person fills in: from fields to a model, from the model to arguments and back.
 *
 * A model is a plain tree that a form changes in place. Every part has `given`: whether it is sent
 * at all. A part whose value fits no field is `raw`, JSON text. Numbers are kept as they are typed.
 * It knows no page; see `fields.js` for the kinds.
 */

import { ExactNumber, numberOf, pretty, read, same, write } from "../text/json_text.js";
import { fieldOf } from "./fields.js";

export { fieldOf };

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const WHOLE = /^-?(?:0|[1-9][0-9]*)(?:\.0+)?(?:[eE]\+?[0-9]+)?$/;

/** The model of a form nobody has touched: required parts are there, the rest is left out.
 *
 * A preset is what the tool takes where nothing is sent, so that it is shown and not sent. */
export function blank(field, required = true) {
  if (!required) return { given: false };
  if (field.preset !== null) return modelOf(field, field.preset.value);
  return EMPTY[field.kind](field);
}

const EMPTY = {
  text: () => ({ given: true, text: "" }),
  number: () => ({ given: true, text: "" }),
  boolean: () => ({ given: true, on: false }),
  null: () => ({ given: true }),
  choice: (field) => ({ given: true, at: field.values.length === 1 ? 0 : -1 }),
  json: () => ({ given: true, raw: "" }),
  list: (field) => ({ given: true, items: Array.from({ length: field.fewest }, () => blank(field.item)) }),
  object: (field) => ({
    given: true,
    members: Object.fromEntries(field.members.map((one) => [one.name, blank(one.field, one.required)])),
    others: [],
  }),
  variant: (field) => ({ given: true, option: 0, inner: blank(field.options[0]) }),
};

/** A part that was left out, as it begins when somebody wants to give it: what it is without that
 * is a good beginning, unless that is nothing at all. */
export function begun(field) {
  const { preset } = field;
  return preset === null || preset.value === null ? EMPTY[field.kind](field) : modelOf(field, preset.value);
}

/** The model that gives exactly this value. */
export function modelOf(field, value) {
  if (value === null && field.nullable) return { given: true, none: true };
  const model = fits(field, value) ? FILLED[field.kind](field, value) : null;
  return model ?? { given: true, raw: write(value, 2) };
}

const FILLED = {
  text: (_, value) => ({ given: true, text: value }),
  number: (_, value) => ({ given: true, text: write(value) }),
  boolean: (_, value) => ({ given: true, on: value }),
  null: () => ({ given: true }),
  choice: (field, value) => ({ given: true, at: field.values.findIndex((one) => same(one, value)) }),
  json: (_, value) => ({ given: true, raw: write(value, 2) }),
  list: (field, value) => ({ given: true, items: value.map((one) => modelOf(field.item, one)) }),
  object: (field, value) => {
    const names = new Set(field.members.map((one) => one.name));
    const members = field.members.map((one) => [
      one.name,
      Object.hasOwn(value, one.name) ? modelOf(one.field, value[one.name]) : { given: false },
    ]);
    const further = Object.keys(value).filter((name) => !names.has(name));
    const other = field.others ?? ANYTHING;
    return {
      given: true,
      members: Object.fromEntries(members),
      others: further.map((name) => ({ name, model: modelOf(other, value[name]) })),
      order: Object.keys(value),
    };
  },
  variant: (field, value) => {
    const option = field.options.findIndex((one) => deeplyFits(one, value));
    const chosen = option < 0 ? field.options.findIndex((one) => fits(one, value)) : option;
    return { given: true, option: chosen, inner: modelOf(field.options[chosen], value) };
  },
};

/** The field of what nothing is known about. */
export const ANYTHING = fieldOf(true);

/** Whether a value is of the field's own kind, looked at from outside. */
function fits(field, value) {
  const exact = value instanceof ExactNumber;
  switch (field.kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return exact || typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "null":
      return value === null;
    case "choice":
      return field.values.some((one) => same(one, value));
    case "list":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "variant":
      return field.options.some((one) => fits(one, value) || (one.nullable && value === null));
    default:
      return true;
  }
}

/** Whether it fits all the way down: says which of several options a value is. */
function deeplyFits(field, value) {
  if (value === null && field.nullable) return true;
  if (!fits(field, value)) return false;
  if (field.kind === "number") return !field.whole || WHOLE.test(write(value));
  if (field.kind === "list") return value.every((one) => deeplyFits(field.item, one));
  if (field.kind === "variant") return field.options.some((one) => deeplyFits(one, value));
  if (field.kind !== "object") return true;
  const names = new Set(field.members.map((one) => one.name));
  const known = field.members.every((one) =>
    Object.hasOwn(value, one.name) ? deeplyFits(one.field, value[one.name]) : !one.required,
  );
  return known && (field.others !== null || Object.keys(value).every((name) => names.has(name)));
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** The value that the model gives; undefined where it is left out or cannot be read. */
export function valueOf(field, model) {
  if (!model.given) return undefined;
  if (model.none) return null;
  if (model.raw !== undefined) return read(model.raw)?.value;
  return VALUES[field.kind](field, model);
}

const VALUES = {
  text: (_, model) => model.text,
  number: (_, model) => (NUMBER.test(model.text.trim()) ? numberOf(model.text.trim()) : undefined),
  boolean: (_, model) => model.on,
  null: () => null,
  choice: (field, model) => field.values[model.at],
  json: () => undefined,
  list: (field, model) => {
    const items = model.items.map((one) => valueOf(field.item, one));
    return items.includes(undefined) ? undefined : items;
  },
  object: (field, model) => {
    const found = new Map();
    for (const one of field.members) {
      const value = valueOf(one.field, model.members[one.name]);
      if (value !== undefined) found.set(one.name, value);
    }
    for (const one of model.others) {
      const value = valueOf(field.others ?? ANYTHING, one.model);
      if (value !== undefined) found.set(one.name, value);
    }
    return Object.fromEntries(ordered(found, model.order ?? []));
  },
  variant: (field, model) => valueOf(field.options[model.option], model.inner),
};

/** Members as they stood in what the model was made from; new ones behind. */
function ordered(found, order) {
  const first = order.filter((name) => found.has(name)).map((name) => [name, found.get(name)]);
  return [...first, ...[...found].filter(([name]) => !order.includes(name))];
}

/** The arguments as JSON text, numbers as they were typed; "{}" where nothing is given. */
export function argumentsText(field, model) {
  const value = valueOf(field, model);
  return value === undefined ? "{}" : write(value);
}

/** The model for arguments that somebody wrote as text; null where they are no JSON. */
export function modelOfText(field, text) {
  const found = read(text);
  return found === null ? null : modelOf(field, found.value);
}

/** What is not filled in as it has to be: `[{path, message}]`, in the order of the form. */
export function problems(field, model, path = "") {
  if (!model.given || model.none) return [];
  if (model.raw !== undefined) {
    return read(model.raw) === null ? [{ path, message: rawMessage(model.raw) }] : [];
  }
  return PROBLEMS[field.kind](field, model, path).map((one) =>
    typeof one === "string" ? { path, message: one } : one,
  );
}

function rawMessage(text) {
  return text.trim() === "" ? "A JSON value is needed." : "This is not JSON yet.";
}

const PROBLEMS = {
  boolean: () => [],
  null: () => [],
  json: () => [],
  text: (field, model) => {
    const length = [...model.text].length;
    if (length < field.shortest) {
      return [field.shortest === 1 ? "It is needed." : `At least ${field.shortest} characters are needed.`];
    }
    if (field.longest !== null && length > field.longest) return [`At most ${field.longest} characters.`];
    return field.pattern !== null && !matches(field.pattern, model.text) ? [`It has to match ${field.pattern}`] : [];
  },
  number: (field, model) => {
    const text = model.text.trim();
    if (text === "") return ["A number is needed."];
    if (!NUMBER.test(text)) return ["This is not a number."];
    if (field.whole && !WHOLE.test(text)) return ["A whole number is needed."];
    return bounded(field, Number(text));
  },
  choice: (field, model) => (model.at < 0 || model.at >= field.values.length ? ["Choose one."] : []),
  list: (field, model, path) => {
    const count = model.items.length;
    const own = [];
    if (count < field.fewest) own.push(`At least ${field.fewest} are needed.`);
    if (field.most !== null && count > field.most) own.push(`At most ${field.most}.`);
    const values = model.items.map((one) => valueOf(field.item, one));
    if (field.unique && values.some((one, at) => values.slice(0, at).some((two) => same(one, two)))) {
      own.push("Each has to be another one.");
    }
    return [...own, ...model.items.flatMap((one, at) => problems(field.item, one, `${path}[${at}]`))];
  },
  object: (field, model, path) => {
    const inside = (name) => (path === "" ? name : `${path}.${name}`);
    const found = [];
    for (const one of field.members) {
      const part = model.members[one.name];
      if (!part.given && one.required) found.push({ path: inside(one.name), message: "It is needed." });
      found.push(...problems(one.field, part, inside(one.name)));
    }
    const names = field.members.map((one) => one.name);
    for (const one of model.others) {
      if (one.name === "" || names.includes(one.name)) {
        found.push({ path: inside(one.name), message: one.name === "" ? "A name is needed." : "There is such a name." });
      }
      names.push(one.name);
      found.push(...problems(field.others ?? ANYTHING, one.model, inside(one.name)));
    }
    return found;
  },
  variant: (field, model, path) => problems(field.options[model.option], model.inner, path),
};

function bounded(field, value) {
  if (field.least !== null && value < field.least) return [`At least ${field.least}.`];
  if (field.above !== null && value <= field.above) return [`More than ${field.above}.`];
  if (field.most !== null && value > field.most) return [`At most ${field.most}.`];
  if (field.below !== null && value >= field.below) return [`Less than ${field.below}.`];
  const steps = field.step === null ? 0 : value / field.step;
  return Math.abs(steps - Math.round(steps)) > 1e-9 ? [`A multiple of ${field.step}.`] : [];
}

/** A pattern that this language does not know holds nobody up: the tool checks it again. */
function matches(pattern, text) {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

/** What a field is called where its schema gives it no title, e.g. an option of a variant. */
export function kindName(field) {
  if (field.title !== "") return field.title;
  if (field.kind === "object") {
    const fixed = field.members.find((one) => one.field.kind === "choice" && one.field.values.length === 1);
    if (fixed !== undefined) return String(fixed.field.values[0]);
    const names = field.members.map((one) => one.name);
    return names.length > 0 ? `{${names.join(", ")}}` : "object";
  }
  if (field.kind === "choice") return field.values.length === 1 ? write(field.values[0]) : "one of a list";
  if (field.kind === "number") return field.whole ? "whole number" : "number";
  if (field.kind === "list") return `list of ${kindName(field.item)}`;
  return NAMES[field.kind];
}

const NAMES = { text: "text", boolean: "yes or no", null: "nothing", json: "JSON", variant: "one of several" };

/** JSON text laid out for reading, or as it is where it is none. */
export function readable(text) {
  return pretty(text) ?? text;
}
