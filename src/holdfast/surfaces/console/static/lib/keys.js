// Keyboard shortcuts: who wants which key, and the page of help about them.

import { h } from "./dom.js";

/**
 * Keys of the whole window. `bind(keys, label, action, {typing, group})` gives back what unbinds
 * it; `keys` is one stroke (`j`, `?`, `Escape`, `mod+k`) or two after each other (`g s`). An
 * action that returns false leaves the key to whoever comes next. Single letters are not taken
 * from whoever types, unless `typing` says so.
 */
export function makeKeys(target = window) {
  const bound = [];
  let pending = "";
  let timer = 0;

  function press(event) {
    if (event.defaultPrevented || event.isComposing) return;
    const stroke = strokeOf(event);
    if (!stroke) return;
    const typing = isTyping(event.target);
    const both = pending ? `${pending} ${stroke}` : stroke;
    const had = pending;
    pending = "";
    clearTimeout(timer);
    for (const wanted of had ? [both, stroke] : [stroke]) {
      for (const one of [...bound].reverse()) {
        if (one.keys !== wanted || (typing && !one.typing)) continue;
        if (one.action(event) === false) continue;
        event.preventDefault();
        return;
      }
    }
    if (!typing && bound.some((one) => one.keys.startsWith(`${stroke} `))) {
      pending = stroke;
      timer = setTimeout(() => (pending = ""), 1200);
    }
  }

  target.addEventListener("keydown", press);
  return {
    bind(keys, label, action, { typing = false, group = "This page" } = {}) {
      const one = { keys, label, action, typing, group };
      bound.push(one);
      return () => {
        const at = bound.indexOf(one);
        if (at >= 0) bound.splice(at, 1);
      };
    },
    all: () => bound.filter((one) => one.label),
  };
}

/** What was pressed, as it is bound: modifiers that matter, then the key. */
export function strokeOf(event) {
  if (["Shift", "Control", "Alt", "Meta", "Dead", "Process"].includes(event.key)) return "";
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push("mod");
  if (event.altKey) parts.push("alt");
  if (event.shiftKey && event.key.length > 1) parts.push("shift");
  parts.push(event.key.length === 1 && parts.length ? event.key.toLowerCase() : event.key);
  return parts.join("+");
}

export function isTyping(element) {
  return Boolean(element?.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true]"));
}

const MAC = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform ?? "");

/** A stroke as keys to look at. */
export function keyCaps(keys) {
  const names = { mod: MAC ? "⌘" : "Ctrl", Escape: "Esc", ArrowUp: "↑", ArrowDown: "↓", Enter: "↵", " ": "Space" };
  return h("span.keys", keys.split(" ").map((stroke, at) => [
    at ? h("span.keys-then", "then") : null,
    stroke.split("+").map((key) => h("kbd", names[key] ?? (key.length === 1 ? key : key))),
  ]));
}
