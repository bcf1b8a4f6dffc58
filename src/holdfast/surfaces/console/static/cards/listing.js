// A directory tree, drawn from the entries of a result and from nothing else.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { seen } from "../text/shown.js";

const MOST = 400;

/**
 * A tree as values, out of entries with a `path` and a `type` or `kind`. What stands below `root`
 * is shown without it; a directory that only its contents tell of is made. Pure.
 */
export function treeOf(entries, root = "") {
  const top = { name: "", path: root, directory: true, children: new Map() };
  const base = root && root !== "." ? `${root.replace(/\/+$/, "")}/` : "";
  for (const entry of entries) {
    const path = entry.path ?? entry.name ?? "";
    const relative = base && path.startsWith(base) ? path.slice(base.length) : path.replace(/^\.\//, "");
    const parts = relative.split("/").filter(Boolean);
    let node = top;
    parts.forEach((part, at) => {
      const last = at === parts.length - 1;
      if (!node.children.has(part)) node.children.set(part, { name: part, path: last ? path : null, directory: !last, link: false, children: new Map() });
      node = node.children.get(part);
      if (last) {
        node.path = path;
        node.directory ||= (entry.type ?? entry.kind) === "directory" || path.endsWith("/");
        node.link = (entry.type ?? entry.kind) === "link";
      } else node.directory = true;
    });
  }
  return sorted(top);
}

function sorted(node) {
  const children = [...node.children.values()].map(sorted);
  children.sort((one, other) => other.directory - one.directory || one.name.localeCompare(other.name));
  return { ...node, children };
}

/** The tree as an element: directories that hold something open and close. */
export function treeElement(entries, { root = "", truncated = false, label = "Files" } = {}) {
  const tree = treeOf(entries.slice(0, MOST), root);
  const left = entries.length - MOST;
  return h("div.tree", { role: "group", "aria-label": label },
    h("ul", tree.children.map(branch)),
    left > 0 ? h("p.faint", `${left} more are not shown here.`) : null,
    truncated ? h("p.faint", "There are more than were listed.") : null);
}

function branch(node) {
  const label = [icon(node.directory ? "folder" : node.link ? "link" : "file", { size: 14 }), h("span", seen(node.name + (node.directory ? "/" : "")))];
  if (!node.children.length) return h("li", h("span.tree-leaf", { class: node.directory && "tree-folder", title: node.path }, label));
  return h("li", h("details", { open: true }, h("summary.tree-folder", label), h("ul", node.children.map(branch))));
}
