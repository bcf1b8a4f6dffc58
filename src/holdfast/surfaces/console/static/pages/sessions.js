// The sessions of this home, the last active first.

import { h, replace } from "../lib/dom.js";

export const page = {
  path: ["/console", "/console/sessions", "/"],
  title: "Sessions",
  nav: { label: "Sessions", icon: "sessions", keys: "g s" },
  show(root) {
    replace(root, h("div.page-pad", h("h1", "Sessions")));
  },
};
