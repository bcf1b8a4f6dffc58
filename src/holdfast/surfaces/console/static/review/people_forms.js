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
 * The form of an inquiry. `onDone(how)` is told "answered", "skipped" or "late"; `inSession` leaves
 * out where it is from.
 */
export function questionForm(inquiry, app, { onDone = () => {}, inSession = false } = {}) {
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
    root.inert = true;
    replace(told, h("p.approval-told.tone-busy", "Sending …"));
    try {
      const body = { session_id: inquiry.session_id, ...(skipped ? { skipped: true } : { answers: repliesOf(inquiry.questions, model) }) };
      await app.api.post(`/questions/${encodeURIComponent(inquiry.call_id)}`, body);
      replace(told, h("p.approval-told.tone-ok", skipped ? "Skipped" : "Answered"));
      onDone(skipped ? "skipped" : "answered");
    } catch (problem) {
      if (problem.status === 409 || problem.status === 404) {
        replace(told, h("p.approval-told.tone-warn", "Somebody answered first; this answer was not taken."));
        onDone("late");
        return;
      }
      root.inert = false;
      replace(told, h("p.approval-told.tone-bad", `Not sent: ${problem.message}${problem.next ? ` ${problem.next}` : ""}`));
    }
  }

  replace(root,
    inSession ? null : whereFrom(inquiry, app),
    inquiry.questions.map((question, at) => questionField(question, model[at], complaints[at])),
    buttons);
  return h("article.inquiry-card", root, told);
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
      h("span", h("span.option-label", seen(option.label)), option.description ? h("span.option-about", seen(option.description)) : null))),
    h("div.option.own", ownMark, own),
    complaint);
}

/** What an application is asked to fulfil, with a place for what it gives. */
export function requestForm(request, app, { onDone = () => {} } = {}) {
  const told = h("div.approval-foot", { role: "status" });
  const output = h("textarea", { id: uid("output"), rows: 4, placeholder: "What the call gives, as text or JSON" });
  const form = h("form.request-form", { novalidate: "", on: { submit: async (event) => {
    event.preventDefault();
    form.inert = true;
    try {
      await app.api.post(`/requests/${encodeURIComponent(request.id)}`, { session_id: request.session_id, output: output.value });
      replace(told, h("p.approval-told.tone-ok", "Given"));
      onDone("answered");
    } catch (problem) {
      const late = problem.status === 409 || problem.status === 404;
      form.inert = late;
      replace(told, h(`p.approval-told.tone-${late ? "warn" : "bad"}`, late ? "Somebody gave it first; this was not taken." : `Not sent: ${problem.message}`));
      if (late) onDone("late");
    }
  } } },
    h("label", { for: output.id }, "Its output"), output,
    h("div.approval-buttons", button({ label: "Give the output", kind: "main", type: "submit" })));
  const input = typeof request.input === "string" ? request.input : write(request.input);
  return h("article.inquiry-card", { dataset: { request: request.id } },
    h("header.approval-head", h("h2", h("code", seen(request.name))),
      sessionNames(app).link(request.session_id), ageOf(request.requested_at)),
    argumentsView(input), form, told);
}
