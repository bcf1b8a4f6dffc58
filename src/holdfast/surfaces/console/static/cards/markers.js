// Finds artifacts and charts in the text of an answer, by their markers. Pure.

const KINDS = { SHARED_ARTIFACT: "artifact", CHART: "chart" };

/**
 * The parts of a text in their order: `{type: "text", text}`, and `{type: "artifact" | "chart",
 * about, text}` with what the block's line of JSON says. A block that cannot be read stays text.
 */
export function partsOf(text) {
  const lines = String(text ?? "").split("\n");
  const parts = [];
  let plain = [];
  const flush = () => {
    const content = plain.join("\n").trim();
    if (content) parts.push({ type: "text", text: content });
    plain = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const opening = /^---(SHARED_ARTIFACT|CHART)_START---$/.exec(lines[at]);
    const end = opening ? lines.indexOf(`---${opening[1]}_END---`, at) : -1;
    const about = end > at ? read(lines[at + 1]) : null;
    if (!about) {
      plain.push(lines[at]);
      continue;
    }
    flush();
    parts.push({ type: KINDS[opening[1]], about, text: lines.slice(at + 2, end).join("\n") });
    at = end;
  }
  flush();
  return parts;
}

function read(line) {
  try {
    const value = JSON.parse(line);
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
