// What waits for a person's leave: one list, live, to be worked through by keys.

import { h, replace } from "../lib/dom.js";
import { keyCaps } from "../lib/keys.js";
import { nothing, problemBox, waitingLines } from "../lib/parts.js";
import { approvalCard } from "../review/approval_card.js";
import { merged, stepped } from "../review/answers.js";
import { whenWaitingChanges } from "../review/live_list.js";

const STAYS_MS = 2500;

export const page = {
  path: "/console/approvals",
  title: "Approvals",
  nav: { label: "Approvals", icon: "inbox", keys: "g a", group: "", badge: (waiting) => waiting.approvals },
  show(root, params, app) {
    const undo = app.disposer();
    const list = h("div.approvals");
    const only = params.query.get("session");
    replace(root, h("div.page-pad.narrow",
      h("header.page-head", h("h1", "Approvals"), only ? h("a", { href: "/console/approvals" }, "Of all sessions") : null, keysShown()),
      list));
    const cards = new Map();
    let shown = [];
    let chosen = null;
    let first = true;
    replace(list, waitingLines(6));

    async function look() {
      let now;
      try {
        now = (await app.api.get("/approvals", { session: only })).approvals;
      } catch (problem) {
        if (first) replace(list, problemBox(problem, look));
        return;
      }
      if (undo.over) return;
      first = false;
      draw(now);
    }

    function draw(now) {
      const open = new Set(now.map((one) => one.approval_id));
      for (const [id, one] of cards) if (!open.has(id)) one.card.gone();
      shown = merged(shown, now, (id) => cards.get(id)?.until > Date.now());
      const ids = shown.map((one) => one.approval_id);
      for (const id of [...cards.keys()]) if (!ids.includes(id)) cards.delete(id);
      for (const one of shown) if (!cards.has(one.approval_id)) cards.set(one.approval_id, made(one));
      if (!ids.includes(chosen)) choose(ids[0] ?? null, { quiet: true });
      if (shown.length === 0) {
        replace(list, nothing("Nobody waits for you.", "When a call needs leave, it stands here at once."));
        return;
      }
      arrange(ids.map((id) => cards.get(id).card));
      mark();
    }

    /** Cards are moved only where their order changed: a note that is being written keeps its cursor. */
    function arrange(wanted) {
      for (const child of [...list.children]) if (!wanted.includes(child)) child.remove();
      wanted.forEach((card, at) => {
        if (list.children[at] !== card) list.insertBefore(card, list.children[at] ?? null);
      });
    }

    function made(question) {
      const entry = { until: Infinity, card: null };
      entry.card = approvalCard(question, app, { onStage: (stage) => {
        if (stage !== "given" && stage !== "late") return;
        entry.until = Date.now() + STAYS_MS;
        const timer = setTimeout(look, STAYS_MS + 50);
        undo.add(() => clearTimeout(timer));
        if (chosen === question.approval_id && stage === "given") choose(next(question.approval_id), { quiet: document.activeElement?.tagName === "TEXTAREA" && !entry.card.contains(document.activeElement) });
      } });
      entry.card.addEventListener("focusin", () => choose(question.approval_id, { quiet: true }));
      return entry;
    }

    function next(after) {
      const open = shown.map((one) => one.approval_id).filter((id) => id === after || cards.get(id).until === Infinity);
      const at = open.indexOf(after);
      return open[at + 1] ?? open[at - 1] ?? after;
    }

    function choose(id, { quiet = false } = {}) {
      chosen = id;
      mark();
      const card = cards.get(id)?.card;
      if (!card || quiet) return;
      card.focus({ preventScroll: true });
      card.scrollIntoView({ block: "nearest" });
    }

    function mark() {
      for (const [id, one] of cards) {
        if (id === chosen) one.card.setAttribute("aria-current", "true");
        else one.card.removeAttribute("aria-current");
      }
    }

    const here = () => cards.get(chosen)?.card;
    const bind = (key, label, act) => undo.add(app.keys.bind(key, label, () => {
      if (!here()) return false;
      act();
      return true;
    }));
    const ids = () => shown.map((one) => one.approval_id);
    bind("j", "Next", () => choose(stepped(ids(), chosen, 1)));
    bind("k", "Previous", () => choose(stepped(ids(), chosen, -1)));
    bind("1", "Allow once", () => here().allow("once"));
    bind("2", "Allow for this session", () => here().allow("session"));
    bind("3", "Allow for this project", () => here().allow("project"));
    bind("w", "Also everything like it", () => here().widen());
    bind("x", "Reject", () => here().reject());
    undo.add(whenWaitingChanges(app, "approvals", look));
    look();
    return undo.dispose;
  },
};

function keysShown() {
  const hints = [["j", "next"], ["1", "once"], ["2", "session"], ["3", "project"], ["x", "reject"]];
  return h("p.key-hints", { "aria-hidden": "true" }, hints.map(([keys, label]) => h("span", keyCaps(keys), ` ${label}`)));
}
