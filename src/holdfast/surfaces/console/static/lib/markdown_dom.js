// Makes nodes of Markdown. It is the only way from a text of a session to anything but text.

import { h, replace } from "./dom.js";
import { highlighted } from "./highlight.js";
import { parse } from "./markdown.js";
import { copyButton } from "./parts.js";

/** An element that shows a text as Markdown. */
export function markdown(text) {
  const root = h("div.markdown");
  show(root, text);
  return root;
}

/** Show another text in it: blocks that are the same as before stay as they are. */
export function show(root, text) {
  const source = String(text ?? "").replaceAll("\r\n", "\n");
  const lines = source.split("\n");
  const made = parse(source).map((block) => ({ block, source: lines.slice(block.from, block.to).join("\n") }));
  const before = shown.get(root) ?? [];
  let same = 0;
  while (same < before.length && same < made.length && before[same] === made[same].source) same += 1;
  while (root.children.length > same) root.lastElementChild.remove();
  for (const { block } of made.slice(same)) root.append(node(block));
  shown.set(root, made.map((one) => one.source));
}

const shown = new WeakMap();

const MAKERS = {
  heading: (block) => h(`h${Math.min(6, block.level + 2)}`, { class: `md-h${block.level}` }, spans(block.children)),
  paragraph: (block) => h("p", spans(block.children)),
  rule: () => h("hr"),
  code: (block) => codeBlock(block.text, block.language),
  quote: (block) => h("blockquote", block.children.map(node)),
  list: (block) => h(block.ordered ? "ol" : "ul", { class: block.loose && "loose", start: block.ordered && block.start !== 1 ? block.start : null },
    block.items.map((item) => h("li", { class: item.task !== null && "task" },
      item.task === null ? null : h("input", { type: "checkbox", checked: item.task, disabled: true, "aria-label": item.task ? "done" : "to be done" }),
      item.children.length === 1 && item.children[0].type === "paragraph" && !block.loose
        ? spans(item.children[0].children)
        : item.children.map((child, at) => (at === 0 && child.type === "paragraph" && !block.loose ? h("span", spans(child.children)) : node(child)))))),
  table: (block) => h("div.table-scroll", { tabindex: "0", role: "region", "aria-label": "Table" },
    h("table.md-table",
      h("thead", h("tr", block.head.map((cell, at) => h("th", { class: block.align[at] && `align-${block.align[at]}` }, spans(cell))))),
      h("tbody", block.rows.map((row) => h("tr", row.map((cell, at) => h("td", { class: block.align[at] && `align-${block.align[at]}` }, spans(cell))),
        row.length < block.head.length ? h("td", { colspan: block.head.length - row.length }) : null))))),
};

function node(block) {
  return MAKERS[block.type](block);
}

function spans(parts) {
  return parts.map((part) => {
    if (typeof part === "string") return part;
    switch (part.type) {
      case "code": return h("code", part.text);
      case "strong": return h("strong", spans(part.children));
      case "em": return h("em", spans(part.children));
      case "del": return h("del", spans(part.children));
      case "break": return h("br");
      case "link": return h("a", { href: part.href, target: "_blank", rel: "noopener noreferrer nofollow" }, spans(part.children));
      default: return h("span", { title: part.title }, spans(part.children));
    }
  });
}

/** A piece of code with its language and a way to copy it. */
export function codeBlock(text, language = "") {
  const code = h("code");
  replace(code, highlighted(text, language));
  return h("div.code",
    h("div.code-head", h("span", language || "text"), copyButton(text, "Copy code")),
    h("pre", { tabindex: "0" }, code));
}
