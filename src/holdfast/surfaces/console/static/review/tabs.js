/** Tabs: one place, several things to show in it. A thing is made when it is first looked at. */

import { h, uid } from "../lib/dom.js";

/** `all` is `[[key, label, fill(place)]]`; `chosen(key)` is told when another one is shown. */
export function tabs(name, all, first, chosen = () => {}) {
  const known = all.some(([key]) => key === first) ? first : all[0][0];
  const filled = new Set();
  const places = new Map();
  const buttons = new Map();
  for (const [key, label] of all) {
    const [tab, panel] = [uid("tab"), uid("panel")];
    buttons.set(key, h("button.page-tab", { type: "button", role: "tab", id: tab, "aria-controls": panel, on: { click: () => show(key) } }, label));
    places.set(key, h("div.page-tab-panel", { role: "tabpanel", id: panel, "aria-labelledby": tab, tabindex: "-1" }));
  }
  const bar = h("div.page-tabs", { role: "tablist", "aria-label": name, on: { keydown: (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const keys = [...buttons.keys()];
    const at = keys.findIndex((key) => buttons.get(key) === document.activeElement);
    const next = keys[(at + by + keys.length) % keys.length];
    show(next);
    buttons.get(next).focus();
  } } }, [...buttons.values()]);
  function show(key, { quiet = false } = {}) {
    for (const [one, element] of buttons) {
      element.setAttribute("aria-selected", String(one === key));
      element.tabIndex = one === key ? 0 : -1;
      places.get(one).hidden = one !== key;
    }
    if (!filled.has(key)) {
      filled.add(key);
      all.find(([one]) => one === key)[2](places.get(key));
    }
    if (!quiet) chosen(key);
  }
  show(known, { quiet: true });
  return h("div.tabbed", bar, [...places.values()]);
}
