// Colours code a little: comments, texts, numbers, words of the language. It never changes a sign.

import { h } from "./dom.js";

const WORDS = {
  python: "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield None True False self",
  js: "async await break case catch class const continue default delete do else export extends finally for from function if import in instanceof let new null of return static super switch this throw true false try typeof undefined var void while yield interface type enum implements public private readonly",
  c: "auto bool break case char class const continue default do double else enum extern false float for fn func go goto if impl import int interface let long loop match mod mut namespace new nil null package private protected pub public range return self short signed sizeof static struct super switch template this throw trait true try type typedef union unsigned use using var virtual void volatile where while chan defer map",
  sh: "case do done elif else esac exit export fi for function if in local return set then unset until while echo cd",
  sql: "select from where and or not insert into values update set delete create table drop alter join left right inner outer on group by order limit as null is in like between having union distinct primary key foreign references index",
  json: "true false null",
};
const KINDS = {
  python: "python", py: "python", toml: "json", yaml: "json", yml: "json", json: "json", jsonl: "json",
  js: "js", jsx: "js", ts: "js", tsx: "js", javascript: "js", typescript: "js", mjs: "js",
  c: "c", h: "c", cpp: "c", rs: "c", rust: "c", go: "c", java: "c", kotlin: "c", kt: "c", swift: "c", cs: "c", php: "c",
  sh: "sh", bash: "sh", shell: "sh", zsh: "sh", console: "sh", sql: "sql", rb: "python", ruby: "python", css: "c",
};
const HASH = new Set(["python", "sh"]);
const TOO_LONG = 60000;
const LONGEST_TEXT = 1000;

/** What a file of this name is written in. */
export function languageOf(path) {
  const end = /\.([A-Za-z0-9]+)$/.exec(path ?? "");
  return end && KINDS[end[1].toLowerCase()] ? end[1].toLowerCase() : "";
}

/** The code as texts and spans. */
export function highlighted(code, language) {
  const kind = KINDS[(language ?? "").toLowerCase()];
  if (!kind || code.length > TOO_LONG) return [code];
  const words = new Set(WORDS[kind].split(" "));
  const hash = HASH.has(kind) || ["toml", "yaml", "yml"].includes(language);
  const signs = new RegExp(
    [
      hash ? "#[^\\n]*" : kind === "sql" ? "--[^\\n]*" : "\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?\\*\\/",
      kind === "python" ? '"""[\\s\\S]*?"""' : "(?!)",
      // A text has an end not far away, or a hostile one would be read anew from each of its quotes.
      `"(?:\\\\.|[^"\\\\\\n]){0,${LONGEST_TEXT}}"`, `'(?:\\\\.|[^'\\\\\\n]){0,${LONGEST_TEXT}}'`, `\`(?:\\\\.|[^\`\\\\]){0,${LONGEST_TEXT}}\``,
      "\\b\\d[\\d_.]*(?:e[+-]?\\d+)?\\b|\\b0x[\\da-f]+\\b", "[A-Za-z_$][\\w$]*",
    ].map((one) => `(${one})`).join("|"),
    "gi",
  );
  const parts = [];
  let last = 0;
  for (const found of code.matchAll(signs)) {
    const style = styleOf(found, words, kind, code);
    if (!style) continue;
    if (found.index > last) parts.push(code.slice(last, found.index));
    parts.push(h(`span.${style}`, found[0]));
    last = found.index + found[0].length;
  }
  parts.push(code.slice(last));
  return parts;
}

function styleOf(found, words, kind, code) {
  if (found[1] !== undefined) return "hl-comment";
  if (found[2] !== undefined || found[3] !== undefined || found[4] !== undefined || found[5] !== undefined) {
    return kind === "json" && /^\s*:/.test(code.slice(found.index + found[0].length, found.index + found[0].length + 4)) ? "hl-name" : "hl-text";
  }
  if (found[6] !== undefined) return "hl-number";
  const word = kind === "sql" ? found[0].toLowerCase() : found[0];
  if (words.has(word)) return "hl-word";
  return code[found.index + found[0].length] === "(" ? "hl-name" : "";
}
