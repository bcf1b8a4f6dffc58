/**
 * Questions of agents as forms, and what an application is asked to fulfil.
 */

import { h, replace, uid } from "../lib/dom.js";
import { ageOf, button } from "../lib/parts.js";
import { argumentsView, seen } from "../text/shown.js";
import { write } from "../text/json_text.js";
import { sessionNames } from "./session_names.js";
import { begunReplies, chosen, misfits, repliesOf, worded } from "./replies.js";

/**
 * The form of an inquiry. `onStage(stage)` is told how its answer stands: `sending`, `given`, `late`
 * or `failed`; `gone()` of the element says that somebody else answered. `inSession` leaves out where
 * it is from.
 */
export function questionForm(inquiry, app, { onStage = () => {}, inSession = false } = {}) {
  const model = begunReplies(inquiry.questions);
  const told = h("div.approval-foot", { role: "status" });
  const complaints = inquiry.questions.map(() => h("p.caution", { hidden: true, role: "alert" }));
  const root = h("form.inquiry", { novalidate: "", dataset: { call: inquiry.call_id }, "aria-label": "Questions of the agent", on: { submit: (event) => {
    event.preventDefault();
    send(false);
  } } });
  const buttons = h("div.approval-buttons",
    button({ label: inquiry.questions.length > 1 ? "Send answers" : "Send answer", kind: "main", type: "submit" }),
    button({ label: "Skip", kind: "quiet", action: () => send(true), title: "The agent is told that you would not answer" }));

  async function send(skipped) {
    const wrong = skipped ? [] : misfits(inquiry.questions, model);
    complaints.forEach((element, at) => {
      const found = wrong.find((one) => one.at === at);
      element.hidden = found === undefined;
      element.textContent = found?.message ?? "";
    });
    if (wrong.length > 0) {
      root.querySelectorAll("fieldset")[wrong[0].at].querySelector("input, textarea").focus();
      return;
    }
    const body = { session_id: inquiry.session_id, ...(skipped ? { skipped: true } : { answers: repliesOf(inquiry.questions, model) }) };
    await sent(`/questions/${encodeURIComponent(inquiry.call_id)}`, body, skipped ? "Skipped" : "Answered", { form: root, told, app, onStage });
  }

  replace(root,
    inSession ? null : whereFrom(inquiry, app),
    inquiry.questions.map((question, at) => questionField(question, model[at], complaints[at])),
    buttons);
  return card(h("article.inquiry-card", { "aria-label": "A question" }, root, told), root, told, onStage);
}

/** Send what a form holds; the first answer counts, and that is told as it is. */
async function sent(path, body, taken, { form, told, app, onStage }) {
  const tell = (tone, words, stage) => {
    replace(told, h(`p.approval-told.tone-${tone}`, words));
    onStage(stage);
  };
  form.inert = true;
  tell("busy", "Sending …", "sending");
  try {
    await app.api.post(path, body);
    tell("ok", taken, "given");
  } catch (problem) {
    if (problem.status === 409 || problem.status === 404) {
      tell("warn", "Somebody answered first; this answer was not taken.", "late");
      return;
    }
    form.inert = false;
    tell("bad", `Not sent: ${problem.message}${problem.next ? ` ${problem.next}` : ""}`, "failed");
  }
}

/** With what lists need: `gone()` where it was answered elsewhere. */
function card(element, form, told, onStage) {
  element.gone = () => {
    if (form.inert) return;
    form.inert = true;
    replace(told, h("p.approval-told.tone-warn", "It was answered elsewhere, or is not asked any more."));
    onStage("late");
  };
  return element;
}

function whereFrom(inquiry, app) {
  return h("header.approval-head", h("h2", sessionNames(app).link(inquiry.session_id)), ageOf(inquiry.asked_at));
}

function questionField(question, model, complaint) {
  const name = uid("question");
  const many = question.multi_select === true;
  const options = question.options ?? [];
  const own = h("textarea.growing", { id: uid("own"), rows: 1, "aria-label": options.length > 0 ? "In your own words" : question.question, placeholder: options.length > 0 ? "In your own words" : "Your answer" });
  const ownMark = options.length > 0 ? h("input", { type: many ? "checkbox" : "radio", name, "aria-label": "In your own words" }) : null;
  own.addEventListener("input", () => {
    worded(model, own.value, many);
    if (ownMark) ownMark.checked = model.own.trim() !== "";
    if (!many && ownMark?.checked) for (const mark of marks) mark.checked = false;
  });
  const marks = options.map((option, at) => h("input", { type: many ? "checkbox" : "radio", name, id: uid("option"), on: { change: (event) => {
    chosen(model, at, event.target.checked, many);
    if (!many && event.target.checked) own.value = model.own;
  } } }));
  ownMark?.addEventListener("change", () => {
    if (ownMark.checked) {
      if (!many) model.chosen.clear();
      own.focus();
    } else {
      own.value = "";
      worded(model, "", many);
    }
  });
  return h("fieldset.question",
    h("legend", question.header ? h("span.badge", seen(question.header)) : null, h("span", seen(question.question))),
    many ? h("p.hint", "Several may be chosen.") : null,
    options.map((option, at) => h("label.option", { for: marks[at].id }, marks[at],
      h("span", h("span.option-label", seen(option.label)), " ", option.description ? h("span.option-about", seen(option.description)) : null))),
    h("div.option.own", ownMark, own),
    complaint);
}

/** What an application is asked to fulfil, with a place for what it gives. */
export function requestForm(request, app, { onStage = () => {} } = {}) {
  const told = h("div.approval-foot", { role: "status" });
  const output = h("textarea", { id: uid("output"), rows: 4, placeholder: "What the call gives, as text or JSON" });
  const form = h("form.request-form", { novalidate: "", on: { submit: (event) => {
    event.preventDefault();
    sent(`/requests/${encodeURIComponent(request.id)}`, { session_id: request.session_id, output: output.value }, "Given", { form, told, app, onStage });
  } } },
    h("label", { for: output.id }, "Its output"), output,
    h("div.approval-buttons", button({ label: "Give the output", kind: "main", type: "submit" })));
  const input = typeof request.input === "string" ? request.input : write(request.input);
  return card(h("article.inquiry-card", { "aria-label": "A call for the application", dataset: { request: request.id } },
    h("header.approval-head", h("h2", h("code", seen(request.name))),
      sessionNames(app).link(request.session_id), ageOf(request.requested_at)),
    argumentsView(input), form, told), form, told, onStage);
}
