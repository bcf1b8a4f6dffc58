/**
 * One question about a call: the exact call, why it is asked, and the answers there are.
 *
 * It sends the answer itself. That somebody else was faster is told as it is: the first one counts.
 */

import { h, replace, uid } from "../lib/dom.js";
import { shortPath } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { ageOf, button } from "../lib/parts.js";
import { argumentsView, seen } from "../text/shown.js";
import { answerBody, answerTold, stageAfter, toldByChange, waysToAllow } from "./answers.js";
import { changeView } from "./change_view.js";
import { explanationView, notJudged } from "./explanation_view.js";
import { treeView } from "./tree_view.js";
import { explained } from "./wire.js";

/**
 * The card of a question. It has `answer({allow, remember, wider, note})`, `reject()` (asks for
 * words), `allow(remember)` and `gone()` (it is not open any more, and not by this card), for keys
 * and lists. `onStage(stage)` is told how its answer stands.
 */
export function approvalCard(question, app, { onStage = () => {}, inSession = false } = {}) {
  const titled = uid("approval");
  const root = h("article.approval", { "aria-labelledby": titled, tabindex: "-1", dataset: { approval: question.approval_id } });
  const foot = h("div.approval-foot", { role: "status" });
  const choices = choicesOf(question, (answer) => root.answer(answer));
  let stage = "open";

  function become(happened) {
    const next = stageAfter(stage, happened);
    if (next === stage) return;
    stage = next;
    root.dataset.stage = stage;
    onStage(stage);
  }

  root.answer = async (answer) => {
    if (stage !== "open" && stage !== "failed") return;
    become("sent");
    tell(foot, "busy", `${answerTold(answer)} …`);
    choices.lock(true);
    try {
      await app.api.post(`/approvals/${encodeURIComponent(question.approval_id)}`, answerBody(question, answer));
      become("taken");
      tell(foot, answer.allow ? "ok" : "bad", answerTold(answer));
    } catch (problem) {
      if (problem.status === 409 || problem.status === 404) {
        become("conflict");
        tell(foot, "warn", "Somebody answered first; this answer was not taken.");
        await tellWhoWas();
      } else {
        become("refused");
        choices.lock(false);
        tell(foot, "bad", `Not sent: ${problem.message}${problem.next ? ` ${problem.next}` : ""}`);
      }
    }
  };

  async function tellWhoWas() {
    try {
      const call = await app.api.get(`/sessions/${encodeURIComponent(question.session_id)}/calls/${encodeURIComponent(question.call_id)}`);
      const { allowed, by, note } = call.approval ?? {};
      if (allowed === undefined || allowed === null) return;
      const words = note ? ` with the words “${note}”` : "";
      tell(foot, "warn", `${by || "Somebody"} ${allowed ? "allowed" : "rejected"} it first${words}; this answer was not taken.`);
    } catch {
      // That somebody was faster is known; who it was, is not.
    }
  }

  root.gone = () => {
    if (stage !== "open" && stage !== "failed") return;
    become("gone");
    choices.lock(true);
    tell(foot, "warn", "It was answered elsewhere, or is not asked any more.");
    tellWhoWas();
  };
  root.allow = (remember) => choices.allow(remember);
  root.reject = () => choices.reject();
  root.widen = () => choices.widen();

  replace(root,
    head(question, titled, inSession),
    h("p.approval-reason", icon("shield"), h("span", seen(question.reason))),
    argumentsView(question.arguments, { left: toldByChange(question) }),
    question.change?.length ? changeView(question.change) : null,
    usesView(question),
    why(question, app),
    inSession ? null : company(question, app),
    choices.root,
    foot);
  return root;
}

function tell(foot, tone, words) {
  replace(foot, h(`p.approval-told.tone-${tone}`, words));
}

function head(question, titled, inSession) {
  const session = `/console/sessions/${encodeURIComponent(question.session_id)}`;
  return h("header.approval-head",
    h("h2", { id: titled }, h("span.only-heard", "May this call run? "), h("code", seen(question.tool))),
    inSession ? null : h("div.approval-where",
      h("a", { href: session }, seen(question.session_title || question.session_id)),
      question.workspace ? h("span.faint", { title: question.workspace }, seen(shortPath(question.workspace, 40))) : null),
    ageOf(question.asked_at));
}

const CAPABILITIES = { "fs.read": "reads", "fs.write": "writes", "net.fetch": "reaches", "shell.run": "runs" };

function usesView(question) {
  if (question.uses.length === 0) return null;
  return h("section.uses", h("h3", "In question"),
    h("ul", question.uses.map((use) => h("li",
      h("span.use-what", { title: use.capability ?? "" }, CAPABILITIES[use.capability] ?? use.capability ?? "the call itself"),
      use.target ? h("code", seen(use.target)) : null,
      use.declared ? h("span.faint", "as the tool declares it") : null,
      use.doubt ? h("p.caution", seen(`In doubt: ${use.doubt}`)) : null))));
}

function why(question, app) {
  return unfolded("Which rules speak of it", async () => {
    const told = explained(await app.api.post("/policy/explain", { tool: question.tool, arguments: question.arguments }, { key: null }));
    return [h("p.hint", "As the rules of this server's own place judge it now."),
      told.explanation === null ? notJudged(told.failure) : explanationView(told.explanation)];
  });
}

function company(question, app) {
  return unfolded("Which sessions it works with", async () =>
    treeView(await app.api.get(`/sessions/${encodeURIComponent(question.session_id)}/tree`)));
}

/** What is asked for when somebody wants to see it, and not before. */
function unfolded(title, ask) {
  const body = h("div.stack");
  let asked = false;
  const element = h("details.why", { on: { toggle: async () => {
    if (!element.open || asked) return;
    asked = true;
    replace(body, h("p.dim", "Looking …"));
    try {
      replace(body, await ask());
    } catch (problem) {
      asked = false;
      replace(body, h("p.caution", problem.message));
    }
  } } }, h("summary", title), body);
  return element;
}

/** The buttons, the words of a refusal, and how they are locked. */
function choicesOf(question, answer) {
  const noteId = uid("note");
  const wider = h("input", { type: "checkbox", id: uid("wider") });
  const never = h("input", { type: "checkbox", id: uid("never") });
  const note = h("textarea", { id: noteId, rows: 2, placeholder: "What should it do instead?" });
  const rejecting = h("div.approval-reject", { hidden: true });
  const ways = waysToAllow(question);
  const allow = (remember) => {
    if (ways.some((way) => way.remember === remember)) answer({ allow: true, remember, wider: wider.checked });
  };
  const reject = () => answer({ allow: false, note: note.value, remember: never.checked ? "session" : "once" });
  const hint = h("p.hint");
  const say = () => {
    hint.textContent = note.value.trim() === ""
      ? "Without words, the run of an agent that somebody watches ends here."
      : "The agent is told these words and goes on from them.";
  };
  note.addEventListener("input", say);
  note.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      reject();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      close();
    }
  });
  say();
  function open() {
    rejecting.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    note.focus();
  }
  function close() {
    rejecting.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    opener.focus();
  }
  const opener = button({ label: "Reject …", kind: "danger", action: () => (rejecting.hidden ? open() : close()), props: { "aria-expanded": "false", "aria-keyshortcuts": "x" } });
  replace(rejecting,
    h("label", { for: noteId }, "Words for the agent"), note, hint,
    question.offers.includes("session") ? h("label.check", never, h("span", "Refuse the same for the rest of this session")) : null,
    h("div.row", button({ label: "Reject", kind: "danger", action: reject }), button({ label: "Back", kind: "quiet", action: close })));
  const root = h("div.approval-choices",
    question.wider.length > 0 ? h("div.wider",
      h("label.check", wider, h("span", "Also everything like it, where it is kept:")),
      h("ul", question.wider.map((pattern) => h("li", h("code", seen(pattern)))))) : null,
    h("div.approval-buttons",
      ways.map((way) => button({ label: way.label, kind: way.remember === "once" ? "main" : "plain", action: () => allow(way.remember), props: { "aria-keyshortcuts": way.key } })),
      opener),
    rejecting);
  return {
    root,
    allow,
    reject: open,
    widen: () => {
      if (question.wider.length > 0) wider.checked = !wider.checked;
    },
    lock: (locked) => {
      root.inert = locked;
      root.classList.toggle("locked", locked);
    },
  };
}
