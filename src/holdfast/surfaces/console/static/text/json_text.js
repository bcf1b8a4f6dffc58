/**
 * JSON as text: taken apart and laid out without being interpreted.
 *
 * What a person decides about has to be what was sent. `JSON.parse` rounds long numbers and drops
 * the first of two members of one name, so that nothing here goes through it but single strings.
 */

const PIECE =
  /[ \t\n\r]+|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|[{}[\],:]/y;
const SPACE = /^[ \t\n\r]/;
const DEEPEST = 200;

/** A number that a double would not keep as it is written. */
export class ExactNumber {
  constructor(text) {
    this.text = text;
  }
}

/** Its pieces without the space between them; null where it is no JSON. */
export function pieces(text) {
  const found = [];
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < text.length) {
    const match = PIECE.exec(text);
    if (match === null) return null;
    if (!SPACE.test(match[0])) found.push(match[0]);
  }
  return found;
}

/** What the text says: `{value, twice}`, or null where it is no JSON.
 *
 * `twice` names the members that stand more than once in one object; the last of each counts. */
export function read(text) {
  const all = typeof text === "string" ? pieces(text) : null;
  if (all === null || all.length === 0) return null;
  const reader = { all, at: 0, twice: [] };
  const value = readValue(reader, 0);
  if (value === undefined || reader.at !== all.length) return null;
  return { value, twice: reader.twice };
}

function readValue(reader, depth) {
  const piece = reader.all[reader.at++];
  if (piece === undefined || depth > DEEPEST) return undefined;
  if (piece === "{") return readObject(reader, depth);
  if (piece === "[") return readList(reader, depth);
  if (piece[0] === '"') return JSON.parse(piece);
  if (piece === "true" || piece === "false") return piece === "true";
  if (piece === "null") return null;
  return /^[-0-9]/.test(piece) ? numberOf(piece) : undefined;
}

/** A number as a number, or exactly as it is written where that would be another one. */
export function numberOf(text) {
  const value = Number(text);
  if (Number.isSafeInteger(value) && /^-?[0-9]+$/.test(text) && text !== "-0") return value;
  return String(value) === text && Number.isFinite(value) && !/^-?[0-9]+$/.test(text)
    ? value
    : new ExactNumber(text);
}

function readObject(reader, depth) {
  const members = new Map();
  if (reader.all[reader.at] === "}") {
    reader.at += 1;
    return {};
  }
  for (;;) {
    const key = reader.all[reader.at++];
    if (key === undefined || key[0] !== '"' || reader.all[reader.at++] !== ":") return undefined;
    const name = JSON.parse(key);
    const value = readValue(reader, depth + 1);
    if (value === undefined) return undefined;
    if (members.has(name)) reader.twice.push(name);
    members.set(name, value);
    const behind = reader.all[reader.at++];
    if (behind === "}") return objectOf(members);
    if (behind !== ",") return undefined;
  }
}

/** An object whose members are its own, also one that is called `__proto__`. */
function objectOf(members) {
  const object = {};
  for (const [name, value] of members) {
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return object;
}

function readList(reader, depth) {
  const items = [];
  if (reader.all[reader.at] === "]") {
    reader.at += 1;
    return items;
  }
  for (;;) {
    const value = readValue(reader, depth + 1);
    if (value === undefined) return undefined;
    items.push(value);
    const behind = reader.all[reader.at++];
    if (behind === "]") return items;
    if (behind !== ",") return undefined;
  }
}

/** A value as JSON text; numbers that were exact stay exact. */
export function write(value, indent = 0) {
  const compact = writeCompact(value);
  return indent > 0 ? (pretty(compact, indent) ?? compact) : compact;
}

function writeCompact(value) {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeCompact).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.keys(value)
      .filter((name) => value[name] !== undefined)
      .map((name) => `${JSON.stringify(name)}:${writeCompact(value[name])}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/** The same text with line breaks: no piece is changed. Null where it is no JSON. */
export function pretty(text, indent = 2) {
  const laid = laidOut(text, indent);
  return laid === null ? null : laid.map((one) => one.text).join("");
}

/** The laid out text as pieces for colours: `[{text, kind}]`, null where it is no JSON.
 *
 * Kinds: `key`, `string`, `number`, `word`, `mark` and `space`. */
export function laidOut(text, indent = 2) {
  if (read(text) === null) return null;
  const all = pieces(text);
  const told = [];
  let depth = 0;
  const line = () => told.push({ text: `\n${" ".repeat(depth * indent)}`, kind: "space" });
  all.forEach((piece, at) => {
    const before = all[at - 1];
    if (piece === "}" || piece === "]") {
      depth -= 1;
      if (before !== "{" && before !== "[") line();
    } else if (before === "{" || before === "[" || before === ",") {
      line();
    }
    told.push({ text: piece, kind: kindOf(piece, all[at + 1]) });
    if (piece === ":") told.push({ text: " ", kind: "space" });
    if (piece === "{" || piece === "[") depth += 1;
  });
  return told;
}

function kindOf(piece, next) {
  if (piece[0] === '"') return next === ":" ? "key" : "string";
  if (/^[-0-9]/.test(piece)) return "number";
  return /^[a-z]/.test(piece) ? "word" : "mark";
}

/** Whether two values are the same JSON; names of members in any order. */
export function same(one, other) {
  if (one instanceof ExactNumber || other instanceof ExactNumber) {
    return one?.text === other?.text && one instanceof ExactNumber && other instanceof ExactNumber;
  }
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, at) => same(item, other[at]))
    );
  }
  if (one !== null && other !== null && typeof one === "object" && typeof other === "object") {
    const names = Object.keys(one);
    return (
      names.length === Object.keys(other).length &&
      names.every((name) => Object.hasOwn(other, name) && same(one[name], other[name]))
    );
  }
  return one === other;
}
