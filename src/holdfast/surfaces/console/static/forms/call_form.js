/**
 * The arguments of a call: a form made from the tool's schema, or JSON as text; always the text
 * that would be sent. Whether to send it, and where to, is not known here.
 */

import { h, replace, uid } from "../lib/dom.js";
import { button } from "../lib/parts.js";
import { pretty } from "../text/json_text.js";
import { formView } from "./form_view.js";
import { argumentsText, blank, fieldOf, modelOfText, problems } from "./schema_form.js";

/**
 * An element with `text()`, what would be sent; `check()`, whether it may be (complaints are shown);
 * and `fill(text)`. `changed` is told after every change.
 */
export function callForm(schema, changed = () => {}, { text = null } = {}) {
  const field = fieldOf(schema);
  const root = h("div.call-form");
  const body = h("div");
  const bar = h("div.segments", { role: "group", "aria-label": "How to fill it in" });
  let model = (text === null ? null : modelOfText(field, text)) ?? blank(field);
  let raw = text !== null && modelOfText(field, text) === null ? text : null;
  let form = null;

  const showProblems = (found) => form?.told(found);
  /** Complaints go away as they are mended; new ones come when a call is tried. */
  let tried = false;
  const touched = () => {
    if (tried && raw === null) showProblems(problems(field, model));
    changed();
  };

  function asForm() {
    if (raw !== null) {
      const next = modelOfText(field, raw);
      if (next === null) {
        replace(complaint, "This is not JSON yet, so that it cannot be shown as a form.");
        complaint.hidden = false;
        return;
      }
      model = next;
      raw = null;
    }
    draw();
  }
  function asText() {
    if (raw === null) {
      const now = argumentsText(field, model);
      raw = pretty(now) ?? now;
    }
    draw();
  }
  const complaint = h("p.caution", { hidden: true, role: "alert" });
  function draw() {
    complaint.hidden = true;
    replace(bar,
      button({ label: "Form", small: true, kind: "quiet", action: asForm, props: { "aria-pressed": String(raw === null) } }),
      button({ label: "JSON", small: true, kind: "quiet", action: asText, props: { "aria-pressed": String(raw !== null) } }));
    form = null;
    if (raw === null) {
      form = formView(field, model, touched);
      replace(body, form);
    } else {
      const id = uid("arguments");
      const area = h("textarea.mono.growing.tall", { id, rows: 8, spellcheck: "false", value: raw, "aria-label": "Arguments as JSON", on: { input: () => {
        raw = area.value;
        complaint.hidden = true;
        changed();
      } } });
      replace(body, area, h("p.hint", "Sent as it stands here; what is no JSON is repaired or refused, as it would be for a model."));
    }
  }
  draw();
  replace(root, bar, body, complaint);
  /** Whether all that is required is there: before that there is nothing to judge. */
  root.ready = () => raw !== null || problems(field, model).length === 0;
  root.text = () => (raw === null ? argumentsText(field, model) : raw);
  root.check = () => {
    if (raw !== null) return true;
    tried = true;
    const found = problems(field, model);
    showProblems(found);
    if (found.length === 0) return true;
    root.querySelector(".caution:not([hidden])")?.scrollIntoView({ block: "nearest" });
    return false;
  };
  root.fill = (next) => {
    const known = modelOfText(field, next);
    if (known === null) raw = next;
    else [model, raw] = [known, null];
    draw();
    changed();
  };
  return root;
}
