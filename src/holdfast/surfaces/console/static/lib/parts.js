// Pieces that every page is made of: buttons, badges, dialogs, toasts, notices. No page's own words.

import { ApiError } from "./api.js";
import { h, replace, uid } from "./dom.js";
import { age, duration, moment } from "./format.js";
import { icon } from "./icons.js";

/**
 * A button. `kind`: "plain", "main", "danger", "quiet"; an icon alone needs a `label`. An action
 * that gives a promise keeps the button busy until that is settled.
 */
export function button({ label, icon: name, title, kind = "plain", action, small = false, bare = false, type = "button", props = {} }) {
  const element = h(
    `button.button.${kind}`,
    { type, title: title ?? (bare ? label : null), class: [small && "small", bare && "bare"], ...props,
      "aria-label": bare ? label : props["aria-label"] },
    name ? icon(name) : null,
    bare ? null : h("span", label),
  );
  if (action) {
    element.addEventListener("click", async (event) => {
      if (element.getAttribute("aria-busy") === "true") return;
      const work = action(event);
      if (!(work instanceof Promise)) return;
      element.setAttribute("aria-busy", "true");
      try {
        await work;
      } finally {
        element.removeAttribute("aria-busy");
      }
    });
  }
  return element;
}

/** A short word in a coloured pill; `tone`: "ok", "warn", "bad", "busy", "accent" or none. */
export function badge(label, tone = "", props = {}) {
  return h("span.badge", { ...props, class: [tone && `tone-${tone}`, props.class] }, label);
}

/** How long ago, with the moment as its title; kept right by `startAges`. */
export function ageOf(at) {
  return h("time.age", { datetime: at, title: moment(at), dataset: { age: at } }, age(at));
}

/** Keep all ages below a root right, and the times since something began (`data-since`). */
export function startAges(root) {
  setInterval(() => {
    for (const element of root.querySelectorAll("[data-since]")) {
      const passed = Date.now() - new Date(element.dataset.since).getTime();
      if (passed > 1500) element.textContent = duration(Math.round(passed / 1000) * 1000);
    }
  }, 1000);
  return setInterval(() => {
    for (const element of root.querySelectorAll("[data-age]")) {
      const now = age(element.dataset.age);
      if (element.textContent !== now) element.textContent = now;
    }
  }, 20000);
}

/** What stands where there is nothing. */
export function nothing(title, detail, ...more) {
  return h("div.nothing", h("p.nothing-title", title), detail ? h("p", detail) : null, more);
}

/** A problem in words, with what to do next and a way to try again. */
export function problemBox(problem, again) {
  return h(
    "div.problem", { role: "alert" },
    icon("error"),
    h("div",
      h("p", problem.message),
      problem.next ? h("p.problem-next", problem.next) : null,
      again ? button({ label: "Try again", small: true, action: again }) : null),
  );
}

/** Lines of grey where something is on its way. */
export function waitingLines(count = 3) {
  return h("div.skeleton", { role: "status", "aria-label": "Loading" }, Array.from({ length: count }, () => h("span")));
}

/**
 * Show what a promise brings: grey lines first, then `made(value)`, or the problem with a way to
 * try again. Gives back a function that asks anew.
 */
export function loaded(root, ask, made, { lines = 4 } = {}) {
  let turn = 0;
  async function again() {
    turn += 1;
    const mine = turn;
    replace(root, waitingLines(lines));
    root.setAttribute("aria-busy", "true");
    try {
      const value = await ask();
      if (mine === turn) replace(root, made(value));
    } catch (problem) {
      if (mine === turn && problem.name !== "AbortError") replace(root, problemBox(problem, again));
      if (!(problem instanceof ApiError) && problem.name !== "AbortError") throw problem;
    } finally {
      if (mine === turn) root.removeAttribute("aria-busy");
    }
  }
  again();
  return again;
}

/**
 * A dialog over the page. `fill(body, close)` puts its content in and may give back the element
 * that gets the focus; `close(value)` ends it. Resolves to that value, or null when it was left.
 */
export function dialog(title, fill, { wide = false, kind = "dialog" } = {}) {
  return new Promise((resolve) => {
    const named = uid("dialog");
    const before = document.activeElement;
    let answer = null;
    const element = h(`dialog.${kind}`, { "aria-labelledby": named, class: wide && "wide" });
    const close = (value = null) => {
      answer = value;
      element.close();
    };
    const body = h("div.dialog-body");
    element.append(
      h("header.dialog-head", h("h2", { id: named }, title),
        button({ label: "Close", icon: "cross", kind: "quiet", bare: true, action: () => close() })),
      body,
    );
    element.addEventListener("close", () => {
      element.remove();
      before?.focus?.();
      resolve(answer);
    });
    element.addEventListener("click", (event) => {
      if (event.target === element) close();
    });
    document.body.append(element);
    const first = fill(body, close);
    element.showModal();
    first?.focus?.();
  });
}

/** Ask before something that cannot be taken back. */
export function confirmed(title, detail, yes, { danger = true } = {}) {
  return dialog(title, (body, close) => {
    const go = button({ label: yes, kind: danger ? "danger" : "main", action: () => close(true) });
    replace(body, h("p", detail), h("div.dialog-foot", button({ label: "Cancel", action: () => close(null) }), go));
    return go;
  }).then(Boolean);
}

/** Messages in the corner that go by themselves; problems stay until they are closed. */
export function makeToasts() {
  const root = h("div.toasts", { role: "region", "aria-label": "Notifications", "aria-live": "polite" });

  function toast(message, { tone = "", next = null, seconds = 5, action = null } = {}) {
    const element = h(`div.toast`, { class: tone && `tone-${tone}`, role: tone === "bad" ? "alert" : "status" },
      tone === "bad" ? icon("error") : tone === "ok" ? icon("check") : icon("note"),
      h("div.toast-text", h("p", message), next ? h("p.toast-next", next) : null),
      action ? button({ label: action.label, small: true, action: () => { element.remove(); action.run(); } }) : null,
      button({ label: "Close", icon: "cross", kind: "quiet", small: true, bare: true, action: () => element.remove() }));
    root.append(element);
    while (root.children.length > 4) root.firstElementChild.remove();
    if (tone !== "bad") setTimeout(() => element.remove(), seconds * 1000);
    return element;
  }

  /** Say what went wrong with something a person wanted. Gives undefined, for `.catch(app.problem)`. */
  function problem(failure) {
    if (failure?.name === "AbortError") return;
    toast(failure.message, { tone: "bad", next: failure.next });
    if (!(failure instanceof ApiError)) throw failure;
  }

  return { root, toast, problem };
}

/** A button that copies a text. */
export function copyButton(what, label = "Copy") {
  const element = button({
    label, icon: "copy", kind: "quiet", small: true, bare: true,
    action: async () => {
      try {
        await navigator.clipboard.writeText(typeof what === "function" ? what() : what);
        replace(element, icon("check"));
        setTimeout(() => replace(element, icon("copy")), 1500);
      } catch {
        element.title = "This browser does not let pages copy.";
      }
    },
  });
  return element;
}

/** A labelled field of a form. `input` is the element; `hint` a line below it. */
export function field(label, input, { hint = null } = {}) {
  input.id ||= uid("field");
  const told = hint ? uid("hint") : null;
  if (told) input.setAttribute("aria-describedby", told);
  return h("div.field", h("label", { for: input.id }, label), input, hint ? h("p.hint", { id: told }, hint) : null);
}

/** A choice among values: `options` are texts or `[value, label]`. */
export function choice(options, value, change, props = {}) {
  const element = h("select", { ...props, on: { change: () => change?.(element.value) } },
    options.map((one) => {
      const [key, label] = Array.isArray(one) ? one : [one, one];
      return h("option", { value: key, selected: key === value }, label);
    }));
  element.value = value ?? "";
  return element;
}

/** A measure between 0 and 1, as a bar that is also said. */
export function gauge(share, label, tone = "") {
  const whole = Math.round(Math.max(0, Math.min(1, share)) * 100);
  return h("span.gauge", { class: tone && `tone-${tone}`, role: "meter", "aria-label": label, "aria-valuenow": whole, "aria-valuemin": 0, "aria-valuemax": 100, title: label },
    h("span.gauge-fill", { style: { width: `${whole}%` } }));
}

