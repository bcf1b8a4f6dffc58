// What agents ask a person, and what applications are asked to fulfil.

import { h, replace } from "../lib/dom.js";
import { nothing, problemBox, waitingLines } from "../lib/parts.js";
import { whenWaitingChanges } from "../review/live_list.js";
import { questionForm, requestForm } from "../review/people_forms.js";

const STAYS_MS = 2000;

export const page = {
  path: "/console/questions",
  title: "Questions",
  nav: { label: "Questions", icon: "question", keys: "g q", group: "", badge: (waiting) => waiting.questions + waiting.requests },
  show(root, params, app) {
    const undo = app.disposer();
    const asked = h("div.inquiries");
    const requested = h("div.inquiries");
    const requests = h("section.stack", { hidden: true }, h("h2", "For the application"),
      h("p.hint", "Calls of tools that your own program fulfils. What you give here is what the call gives."), requested);
    const problem = h("div");
    replace(root, h("div.page-pad.narrow", h("header.page-head", h("h1", "Questions")), problem, asked, requests));
    replace(asked, waitingLines(5));
    const forms = { questions: new Map(), requests: new Map() };
    let first = true;

    async function look() {
      try {
        const only = { session: params.query.get("session") };
        const [inquiries, calls] = await Promise.all([app.api.get("/questions", only), app.api.get("/requests", only)]);
        if (undo.over) return;
        first = false;
        replace(problem);
        draw(asked, forms.questions, inquiries.questions, (one) => `${one.session_id} ${one.call_id}`, questionForm);
        draw(requested, forms.requests, calls.requests, (one) => `${one.session_id} ${one.id}`, requestForm);
        requests.hidden = forms.requests.size === 0;
        if (forms.questions.size === 0) {
          replace(asked, requests.hidden ? nothing("Nobody asks anything.", "When an agent needs an answer of yours, its question stands here.") : null);
        }
      } catch (failure) {
        if (first) replace(asked);
        replace(problem, problemBox(failure, look));
      }
    }

    /** Forms that are being filled in stay as they are; what was answered stays for a moment. */
    function draw(place, known, now, keyOf, form) {
      const open = new Set(now.map(keyOf));
      for (const [key, one] of known) {
        if (open.has(key)) continue;
        if (one.stage === "open" || one.stage === "failed") one.element.gone();
        if (one.until > Date.now()) continue;
        one.element.remove();
        known.delete(key);
      }
      if (now.length > 0 && known.size === 0) replace(place);
      for (const one of now) {
        const key = keyOf(one);
        if (known.has(key)) continue;
        const entry = { stage: "open", until: Infinity, element: null };
        entry.element = form(one, app, { onStage: (stage) => {
          entry.stage = stage;
          if (stage !== "given" && stage !== "late") return;
          entry.until = Date.now() + STAYS_MS;
          const timer = setTimeout(look, STAYS_MS + 50);
          undo.add(() => clearTimeout(timer));
        } });
        known.set(key, entry);
        place.append(entry.element);
      }
    }

    undo.add(whenWaitingChanges(app, "questions", look));
    undo.add(whenWaitingChanges(app, "requests", look));
    look();
    return undo.dispose;
  },
};
