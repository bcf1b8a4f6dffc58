/**
 * Fields as elements to fill in. It changes the model in place and says so; what a model means is
 * known by `schema_form.js`.
 */

import { h, replace, uid } from "../lib/dom.js";
import { button } from "../lib/parts.js";
import { write } from "../text/json_text.js";
import { ANYTHING, begun, blank, kindName, modelOf, valueOf } from "./schema_form.js";

/** The form of a field: an element with `told(problems)`, which shows what is wrong where it is. */
export function formView(field, model, changed) {
  const places = new Map();
  const root = h("div.schema-form");
  const context = {
    changed,
    place: (path, element) => places.set(path, element),
  };
  replace(root, field.kind === "object" && model.raw === undefined
    ? objectBody(field, model, "", context)
    : partView(field, model, "", context, null));
  root.told = (found) => {
    for (const [path, element] of places) {
      if (!element.isConnected) {
        places.delete(path);
        continue;
      }
      const mine = found.filter((one) => one.path === path).map((one) => one.message);
      element.textContent = mine.join(" ");
      element.hidden = mine.length === 0;
    }
  };
  return root;
}

function complaint(path, context) {
  const element = h("p.caution", { hidden: true, id: uid("wrong") });
  context.place(path, element);
  return element;
}

/** A member of an object: its name, what it is for, and its value, or a way to give it. */
function memberView(one, models, path, context) {
  const inside = path === "" ? one.name : `${path}.${one.name}`;
  const root = h("div.form-member", { dataset: { member: one.name } });
  const named = uid("member");
  const about = uid("about");
  const set = (model) => {
    models[one.name] = model;
    draw();
    context.changed();
  };
  function draw() {
    const model = models[one.name];
    const wrong = complaint(inside, context);
    replace(root,
      h("div.form-name",
        h("label", { id: named, for: `${named}-input` }, one.name),
        one.required ? h("span.required", "required") : null,
        h("span.form-kind", shortKind(one.field)),
        model.given && !one.required ? button({ label: "Leave out", kind: "quiet", small: true, action: () => set({ given: false }), props: { "aria-label": `Leave out ${one.name}` } }) : null),
      one.field.description ? h("p.hint", { id: about }, one.field.description) : null,
      model.given ? partView(one.field, model, inside, context, `${named}-input`, { named, about: one.field.description ? about : null }) : leftOut(one, () => {
        set(begun(one.field));
        root.querySelector("input, textarea, select")?.focus();
      }, named),
      wrong);
    root.classList.toggle("left-out", !model.given);
  }
  draw();
  return root;
}

function leftOut(one, give, named) {
  const preset = one.field.preset === null ? "left out" : `left out: ${one.field.preset.value === null ? "nothing" : write(one.field.preset.value)}`;
  return h("button.left-out-button", { type: "button", id: `${named}-input`, "aria-labelledby": `${named} ${named}-input`, on: { click: give } }, h("span", preset), h("span.link-button", "Give it"));
}

const SHORT = { object: "object", choice: "", list: "list", variant: "one of several" };

function shortKind(field) {
  const name = SHORT[field.kind] ?? kindName(field);
  return field.nullable ? `${name || "choice"} or nothing` : name;
}

/** The value of a part, by its kind; with ways to say nothing, or JSON. */
function partView(field, model, path, context, id, labels = {}, inner = false) {
  const root = h("div.form-part");
  const become = (next) => {
    for (const key of Object.keys(model)) delete model[key];
    Object.assign(model, next);
    draw();
    context.changed();
  };
  function draw() {
    replace(root, h("div.form-value", valueView(field, model, path, context, id, labels)), ways(field, model, become, inner));
  }
  draw();
  return root;
}

/** `inner`: whatever stands around it can be said as JSON already. */
function ways(field, model, become, inner) {
  const offered = [];
  if (field.nullable) {
    offered.push(model.none
      ? ["Give a value", () => become(begun(field))]
      : ["Nothing (null)", () => become({ given: true, none: true })]);
  }
  if (!model.none && field.kind !== "json" && (model.raw !== undefined || (NESTED.has(field.kind) && !inner))) {
    offered.push(model.raw === undefined
      ? ["As JSON", () => become({ given: true, raw: write(valueOf(field, model) ?? null, 2) })]
      : ["As a form", () => become(fromRaw(field, model.raw))]);
  }
  if (offered.length === 0) return null;
  return h("div.form-ways", offered.map(([label, action]) => h("button.link-button", { type: "button", on: { click: action } }, label)));
}

const NESTED = new Set(["object", "list", "variant"]);

function fromRaw(field, raw) {
  const value = valueOf(ANYTHING, { given: true, raw });
  return value === undefined ? blank(field) : modelOf(field, value);
}

function valueView(field, model, path, context, id, labels) {
  if (model.none) return h("p.dim", { id }, "nothing (null)");
  if (model.raw !== undefined) return rawInput(model, context, id, labels);
  return VIEWS[field.kind](field, model, path, context, id, labels);
}

function typed(model, key, context) {
  return { input: (event) => {
    model[key] = event.target.value;
    context.changed();
  } };
}

function rawInput(model, context, id, { named, about }) {
  return h("textarea.mono.growing", { id, rows: 2, spellcheck: "false", "aria-labelledby": named, "aria-describedby": about, placeholder: "JSON", value: model.raw, on: typed(model, "raw", context) });
}

const VIEWS = {
  json: (field, model, path, context, id, labels) => rawInput(model, context, id, labels),
  null: (field, model, path, context, id) => h("p.dim", { id }, "nothing (null)"),
  text: (field, model, path, context, id, { named, about }) => {
    const example = field.examples.find((one) => typeof one === "string") ?? null;
    return h("textarea.growing", {
      id, rows: 1, spellcheck: "false", "aria-labelledby": named, "aria-describedby": about, placeholder: example,
      value: model.text, on: typed(model, "text", context),
    });
  },
  number: (field, model, path, context, id, { named, about }) => h("input.number", {
    id, type: "text", inputmode: field.whole ? "numeric" : "decimal", autocomplete: "off", "aria-labelledby": named, "aria-describedby": about,
    placeholder: boundsOf(field), value: model.text, on: typed(model, "text", context),
  }),
  boolean: (field, model, path, context, id) => {
    const says = h("span", model.on ? "yes (true)" : "no (false)");
    const mark = h("input", { type: "checkbox", id, checked: model.on, on: { change: () => {
      model.on = mark.checked;
      says.textContent = model.on ? "yes (true)" : "no (false)";
      context.changed();
    } } });
    return h("label.check", mark, says);
  },
  choice: (field, model, path, context, id, { named, about }) => {
    if (field.values.length === 1) return h("p", { id }, h("code", write(field.values[0])));
    return h("select", { id, "aria-labelledby": named, "aria-describedby": about, on: { change: (event) => {
      model.at = Number(event.target.value);
      context.changed();
    } } }, model.at < 0 ? h("option", { value: "-1", selected: true }, "Choose …") : null,
    field.values.map((value, at) => h("option", { value: String(at), selected: at === model.at }, typeof value === "string" ? value || '""' : write(value))));
  },
  list: listView,
  object: (field, model, path, context) => h("div.form-nested", objectBody(field, model, path, context)),
  variant: variantView,
};

function boundsOf(field) {
  const from = field.least ?? (field.above === null ? null : `more than ${field.above}`);
  const to = field.most ?? (field.below === null ? null : `less than ${field.below}`);
  if (from === null && to === null) return null;
  return from === null ? `up to ${to}` : to === null ? `${field.least === null ? "" : "from "}${from}` : `${from} to ${to}`;
}

function objectBody(field, model, path, context) {
  const rows = field.members.map((one) => memberView(one, model.members, path, context));
  if (field.members.length === 0 && field.others === null && model.others.length === 0) return h("p.dim", "It takes no arguments.");
  return [rows, othersView(field, model, path, context)];
}

/** Members whose names the schema does not give. */
function othersView(field, model, path, context) {
  if (field.others === null && model.others.length === 0) return null;
  const root = h("div.form-others");
  const inner = field.others ?? ANYTHING;
  function draw() {
    replace(root,
      model.others.map((one, at) => h("div.form-other",
        h("input", { type: "text", "aria-label": "Name", placeholder: "name", value: one.name, spellcheck: "false", on: typed(one, "name", context) }),
        partView(inner, one.model, path === "" ? one.name : `${path}.${one.name}`, context, uid("other"), {}),
        remove(`Remove ${one.name || "this"}`, () => {
          model.others.splice(at, 1);
          draw();
          context.changed();
        }))),
      field.others === null ? null : button({ label: "Add a member", icon: "plus", kind: "quiet", small: true, action: () => {
        model.others.push({ name: "", model: begun(inner) });
        draw();
        context.changed();
        root.querySelector(".form-other:last-of-type input")?.focus();
      } }));
  }
  draw();
  return root;
}

function remove(label, action) {
  return button({ label, icon: "cross", kind: "quiet", small: true, bare: true, action });
}

function listView(field, model, path, context) {
  const root = h("div.form-list");
  function draw() {
    replace(root,
      h("ol", model.items.map((item, at) => h("li",
        partView(field.item, item, `${path}[${at}]`, context, uid("item"), {}),
        remove(`Remove number ${at + 1}`, () => {
          model.items.splice(at, 1);
          draw();
          context.changed();
        }),
        complaint(`${path}[${at}]`, context)))),
      field.most !== null && model.items.length >= field.most ? null
        : button({ label: "Add one", icon: "plus", kind: "quiet", small: true, action: () => {
          model.items.push(begun(field.item));
          draw();
          context.changed();
          root.querySelector("li:last-of-type :is(input, textarea, select)")?.focus();
        } }));
  }
  draw();
  return root;
}

function variantView(field, model, path, context, id, { named, about }) {
  const root = h("div.form-variant");
  const inner = h("div");
  const draw = () => replace(inner, partView(field.options[model.option], model.inner, path, context, uid("option"), { named }, true));
  const select = h("select", { id, "aria-labelledby": named, "aria-describedby": about, on: { change: () => {
    model.option = Number(select.value);
    model.inner = begun(field.options[model.option]);
    draw();
    context.changed();
  } } }, field.options.map((one, at) => h("option", { value: String(at), selected: at === model.option }, kindName(one))));
  draw();
  replace(root, select, inner);
  return root;
}
