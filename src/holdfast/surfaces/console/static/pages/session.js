// One session: what happened, what happens, and a way to say something.

import { h, replace } from "../lib/dom.js";

export const page = {
  path: "/console/sessions/:id",
  title: "Session",
  within: "Sessions",
  show(root, { id }) {
    replace(root, h("div.page-pad", h("h1", id)));
  },
};
