// Where a person says something to a session, and stops it or has it go on.

import { part } from "../lib/api.js";
import { h, setText } from "../lib/dom.js";
import { button } from "../lib/parts.js";
import { isAtWork } from "./session_words.js";

const KEPT = "holdfast.draft.";

export function makeComposer(ctx) {
  const { app, session } = ctx;
  const path = `/sessions/${part(session)}`;
  const input = h("textarea.composer-input", { rows: 1, "aria-label": "Say something to the agent", autocomplete: "off", spellcheck: "true" });
  const hint = h("span.composer-hint");
  const send = button({ label: "Send", icon: "send", kind: "main", action: () => say(), props: { class: "composer-send" } });
  const stop = button({ label: "Interrupt", icon: "stop", kind: "danger", small: true, title: "Stop the run (i)", action: () => interrupt(false) });
  const stopCall = button({ label: "Stop this call", kind: "quiet", small: true, title: "Stop only the calls that run; the agent goes on", action: () => interrupt(true) });
  const resume = button({ label: "Resume", icon: "play", small: true, title: "Run it again", action: () => act(`${path}/resume`, {}, "A run is queued") });
  const root = h("form.composer", { "aria-label": "Say something", on: { submit: (event) => { event.preventDefault(); say(); } } },
    h("div.composer-box", input, send),
    h("div.composer-foot", hint, h("span.grow"), resume, stopCall, stop));
  let row = null;
  let sending = false;

  input.value = read();
  input.addEventListener("input", () => {
    grow();
    write(input.value);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.shiftKey || event.altKey) return;
    event.preventDefault();
    say();
  });

  async function say() {
    const message = input.value.trim();
    if (!message) {
      input.focus();
      return;
    }
    if (sending) return;
    sending = true;
    send.setAttribute("aria-busy", "true");
    const whole = input.value;
    try {
      await app.api.post(`${path}/messages`, { message });
      // What was written meanwhile is the beginning of the next message.
      if (input.value.startsWith(whole)) input.value = input.value.slice(whole.length).trimStart();
      write(input.value);
      grow();
      ctx.timeline.bottom();
    } catch (problem) {
      app.problem(problem);
    } finally {
      sending = false;
      send.removeAttribute("aria-busy");
      input.focus();
    }
  }

  async function interrupt(onlyCalls) {
    await act(`${path}/interrupt`, { only_calls: onlyCalls }, onlyCalls ? "The call is being stopped" : "Interrupted");
  }

  async function act(where, body, said) {
    try {
      const told = await app.api.post(where, body);
      app.toast(told?.did === false ? "Nothing ran that could be stopped" : said, { tone: told?.did === false ? "" : "ok" });
    } catch (problem) {
      app.problem(problem);
    }
  }

  function grow() {
    input.style.height = "auto";
    input.style.height = `${Math.min(input.scrollHeight + 2, 260)}px`;
  }

  function read() {
    try {
      return sessionStorage.getItem(KEPT + session) ?? "";
    } catch {
      return "";
    }
  }

  function write(text) {
    try {
      if (text) sessionStorage.setItem(KEPT + session, text);
      else sessionStorage.removeItem(KEPT + session);
    } catch {
      // Then it is kept for as long as this page is.
    }
  }

  return {
    root,
    input,
    focus: () => input.focus(),
    interrupt() {
      if (!row || !isAtWork(row)) return false;
      interrupt(false);
      return true;
    },
    draw(fresh) {
      row = fresh;
      const busy = isAtWork(row);
      stop.hidden = !busy && row.status !== "rescheduling" && row.status !== "requires_action";
      stopCall.hidden = !busy;
      resume.hidden = busy || !(row.left || row.reported === "error" || row.status === "rescheduling");
      input.placeholder = !row.agent_id ? "No agent works in this session"
        : busy ? "Say something while it works" : "Say something";
      setText(hint, busy ? "It reads what you say before its next step." : "Enter sends, Shift+Enter begins a line.");
      requestAnimationFrame(grow);
    },
  };
}
