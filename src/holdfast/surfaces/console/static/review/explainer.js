/** What policy says of a call while it is being written: asked anew a moment after each change. */

import { h, replace } from "../lib/dom.js";
import { explained } from "./wire.js";
import { explanationView, notJudged } from "./explanation_view.js";

const PAUSE_MS = 350;

/** `{root, soon(text), dispose()}`; `tool` may be a function where it changes. */
export function explainer(app, tool) {
  const root = h("div.explainer", { "aria-live": "polite" });
  let timer = 0;
  let turn = 0;
  let asked = null;
  async function ask(text) {
    turn += 1;
    const mine = turn;
    const name = typeof tool === "function" ? tool() : tool;
    if (!name) {
      replace(root, h("p.dim", "Choose a tool."));
      return;
    }
    root.setAttribute("aria-busy", "true");
    try {
      const told = await app.api.post("/policy/explain", { tool: name, arguments: text }, { key: null });
      const { explanation, failure } = explained(told);
      if (mine === turn) replace(root, explanation === null ? notJudged(failure) : explanationView(explanation));
    } catch (problem) {
      if (mine === turn) replace(root, notJudged({ kind: problem.code, message: problem.message }));
    } finally {
      if (mine === turn) root.removeAttribute("aria-busy");
    }
  }
  return {
    root,
    /** `ready`: the form holds all that it has to; what is half written is no mistake yet. */
    soon(text, ready = true) {
      const wanted = `${typeof tool === "function" ? tool() : tool} ${ready} ${text}`;
      if (wanted === asked) return;
      asked = wanted;
      clearTimeout(timer);
      if (!ready) {
        turn += 1;
        root.removeAttribute("aria-busy");
        replace(root, h("p.dim", "Fill in what is required, and it is told here while you write."));
        return;
      }
      timer = setTimeout(ask, PAUSE_MS, text);
    },
    dispose() {
      clearTimeout(timer);
      turn += 1;
    },
  };
}
