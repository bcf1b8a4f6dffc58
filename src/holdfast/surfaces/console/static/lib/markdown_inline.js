// What stands inside of a line of Markdown. Pure: gives a list of texts and nodes.
//
// A node is `{type, children}` or `{type, text}`: code, strong, em, del, link (`href`), break.

const ADDRESS = /^https?:\/\/[^\s<>"'`]+/;
const WORD = /[\p{L}\p{N}_]/u;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const DEEPEST = 20;
const LONGEST_ADDRESS = 2000;

/** The parts of a line. */
export function inline(text, depth = 0) {
  const found = [];
  let plain = "";
  let at = 0;
  const lacks = new Set();

  const flush = () => {
    if (plain) found.push(plain);
    plain = "";
  };
  const put = (node, next) => {
    flush();
    found.push(node);
    at = next;
  };

  while (at < text.length) {
    const sign = text[at];
    if (sign === "\u0000") {
      put({ type: "break" }, at + 1);
      continue;
    }
    if (sign === "\\" && PUNCTUATION.test(text[at + 1] ?? "")) {
      plain += text[at + 1];
      at += 2;
      continue;
    }
    const node = depth < DEEPEST ? special(text, at, depth, lacks) : null;
    if (node) {
      put(node.node, node.next);
      continue;
    }
    plain += sign;
    at += 1;
  }
  flush();
  return found;
}

function special(text, at, depth, lacks) {
  switch (text[at]) {
    case "`": return code(text, at, lacks);
    case "*": case "_": case "~": return emphasis(text, at, depth, lacks);
    case "[": return link(text, at, depth, lacks);
    case "!": return text[at + 1] === "[" ? link(text, at + 1, depth, lacks) : null;
    case "<": return angled(text, at, lacks);
    case "h": return bare(text, at);
    default: return null;
  }
}

function code(text, at, lacks) {
  let width = 1;
  while (text[at + width] === "`") width += 1;
  const marks = "`".repeat(width);
  if (lacks.has(marks)) return { node: marks, next: at + width };
  let end = at + width;
  for (;;) {
    end = text.indexOf(marks, end);
    if (end < 0) {
      lacks.add(marks);
      return { node: marks, next: at + width };
    }
    if (text[end + width] !== "`") break;
    while (text[end] === "`") end += 1;
  }
  let content = text.slice(at + width, end).replaceAll("\n", " ").replaceAll("\u0000", " ");
  if (content.length > 2 && content.startsWith(" ") && content.endsWith(" ") && content.trim()) content = content.slice(1, -1);
  return { node: { type: "code", text: content }, next: end + width };
}

function emphasis(text, at, depth, lacks) {
  const sign = text[at];
  let width = 1;
  while (text[at + width] === sign && width < 3) width += 1;
  const before = text[at - 1] ?? " ";
  const after = text[at + width] ?? " ";
  if (/\s/.test(after) || (sign === "_" && WORD.test(before))) return null;
  if (sign === "~") {
    if (width < 2) return null;
    width = 2;
  }
  for (; width > 0; width -= 1) {
    const marks = sign.repeat(width);
    if (sign === "~" && width < 2) return null;
    if (lacks.has(`${marks}close`)) continue;
    const end = closing(text, at + width, marks);
    if (end < 0) {
      lacks.add(`${marks}close`);
      continue;
    }
    const children = inline(text.slice(at + width, end), depth + 1);
    const next = end + width;
    if (sign === "~") return { node: { type: "del", children }, next };
    if (width === 3) return { node: { type: "strong", children: [{ type: "em", children }] }, next };
    return { node: { type: width === 2 ? "strong" : "em", children }, next };
  }
  return null;
}

/** Where marks close what they opened: not behind a blank, not inside of code. */
function closing(text, from, marks) {
  const sign = marks[0];
  for (let at = from; at < text.length; at += 1) {
    const here = text[at];
    if (here === "\\") at += 1;
    else if (here === "`") {
      const end = text.indexOf("`", at + 1);
      if (end > 0) at = end;
    } else if (here === sign && at > from) {
      let width = 1;
      while (text[at + width] === sign) width += 1;
      const before = text[at - 1];
      const after = text[at + width] ?? " ";
      if (width >= marks.length && !/\s/.test(before) && !(sign === "_" && WORD.test(after))
        && (width === marks.length || width === 3)) return at + (width === 3 && marks.length < 3 ? width - marks.length : 0);
      at += width - 1;
    }
  }
  return -1;
}

function link(text, at, depth, lacks) {
  if (lacks.has("](")) return null;
  let level = 0;
  let end = at;
  for (; end < text.length; end += 1) {
    if (text[end] === "\\") end += 1;
    else if (text[end] === "[") level += 1;
    else if (text[end] === "]") {
      level -= 1;
      if (level === 0) break;
    }
    if (end - at > LONGEST_ADDRESS) return null;
  }
  if (end >= text.length) {
    lacks.add("](");
    return null;
  }
  if (text[end + 1] !== "(") return null;
  const close = text.indexOf(")", end + 2);
  if (close < 0) return null;
  let stop = close;
  // One pair of brackets may stand in an address.
  if (text.slice(end + 2, close).includes("(")) stop = text.indexOf(")", close + 1) > 0 ? text.indexOf(")", close + 1) : close;
  const target = text.slice(end + 2, stop).trim().split(/\s+/)[0].replace(/^<|>$/g, "");
  const children = inline(text.slice(at + 1, end), depth + 1);
  const href = safe(target);
  const start = text[at - 1] === "!" ? at : at;
  return { node: href ? { type: "link", href, children } : { type: "span", children, title: target }, next: stop + 1, start };
}

function angled(text, at, lacks) {
  if (lacks.has(">")) return null;
  const end = text.indexOf(">", at);
  if (end < 0) {
    lacks.add(">");
    return null;
  }
  if (end - at > LONGEST_ADDRESS) return null;
  const inside = text.slice(at + 1, end);
  const href = /\s/.test(inside) ? null : safe(inside);
  return href ? { node: { type: "link", href, children: [inside] }, next: end + 1 } : null;
}

function bare(text, at) {
  if (WORD.test(text[at - 1] ?? " ")) return null;
  const found = ADDRESS.exec(text.slice(at, at + LONGEST_ADDRESS));
  if (!found) return null;
  let address = found[0].replace(/[.,;:!?*_~]+$/, "");
  if (address.endsWith(")") && !address.includes("(")) address = address.slice(0, -1);
  const href = safe(address);
  return href ? { node: { type: "link", href, children: [address] }, next: at + address.length } : null;
}

/** An address that a person may follow: of the web, or mail; null for any other. */
export function safe(target) {
  if (!/^(https?:\/\/|mailto:)/i.test(target)) return null;
  try {
    return new URL(target).href;
  } catch {
    return null;
  }
}
