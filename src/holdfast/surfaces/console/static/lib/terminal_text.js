// What a program printed for a terminal, as plain lines. Pure.

const CONTROLS = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

const BACK = "\u0008";
const OVERSTRUCK = /[^\u0008]\u0008/g;

/** Without colours and movements; of a line that was written over, what stands there at the end. */
export function plainOutput(text) {
  const clean = String(text ?? "").replace(CONTROLS, "").replaceAll("\r\n", "\n");
  if (!clean.includes("\r") && !clean.includes(BACK)) return clean;
  return clean.split("\n").map((line) => {
    const parts = line.split("\r").filter(Boolean);
    return (parts.at(-1) ?? "").replace(OVERSTRUCK, "").replaceAll(BACK, "");
  }).join("\n");
}

/** The first and the last lines of a text, with how many were left out between them. */
export function ends(text, first, last) {
  const lines = text.replace(/\n$/, "").split("\n");
  if (lines.length <= first + last + 2) return { head: lines.join("\n"), tail: "", skipped: 0, lines: lines.length };
  return {
    head: lines.slice(0, first).join("\n"), tail: last ? lines.slice(-last).join("\n") : "",
    skipped: lines.length - first - last, lines: lines.length,
  };
}
