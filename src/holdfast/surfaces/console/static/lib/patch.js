// Reads the text of a patch, in either form, to be looked at. Pure. What is no patch is told as null.

import { paired } from "./diff.js";

/** The files of a patch: `{path, from, change, rows}` each; null where nothing could be read. */
export function patchFiles(text) {
  const lines = String(text ?? "").replaceAll("\r\n", "\n").split("\n");
  const files = lines.some((line) => line.startsWith("*** Begin Patch")) ? starred(lines) : unified(lines);
  return files.length ? files : null;
}

function starred(lines) {
  const files = [];
  let file = null;
  let steps = [];
  const flush = () => {
    if (file && steps.length) file.rows.push(...paired(steps, file.change === "added" ? 1 : null, file.change === "added" ? file.rows.length + 1 : null));
    steps = [];
  };
  for (const line of lines) {
    const head = /^\*\*\* (Add|Update|Delete) File: (.*)$/.exec(line);
    if (head) {
      flush();
      file = { path: head[2].trim(), from: null, change: { Add: "added", Update: "changed", Delete: "deleted" }[head[1]], rows: [] };
      files.push(file);
    } else if (line.startsWith("*** Move to: ") && file) {
      [file.from, file.path, file.change] = [file.path, line.slice(13).trim(), "moved"];
    } else if (line.startsWith("@@") && file) {
      flush();
      const title = line.slice(2).trim();
      if (title || file.rows.length) file.rows.push({ kind: "gap", text: title || "…" });
    } else if (/^[-+ ]/.test(line) && file) steps.push([line[0], line.slice(1)]);
    else if (line === "" && file && file.change !== "deleted" && steps.length) steps.push([" ", ""]);
    else if (line.startsWith("*** End")) flush();
  }
  flush();
  return files;
}

function unified(lines) {
  const files = [];
  let file = null;
  let steps = [];
  let numbers = [1, 1];
  let left = [0, 0];
  const flush = () => {
    if (file && steps.length) file.rows.push(...paired(steps, ...numbers));
    steps = [];
  };
  const begin = (path) => {
    flush();
    file = { path, from: null, change: "changed", rows: [] };
    files.push(file);
  };
  for (const line of lines) {
    const inside = left[0] > 0 || left[1] > 0;
    if (inside && /^[-+ ]/.test(line)) {
      steps.push([line[0], line.slice(1)]);
      if (line[0] !== "+") left[0] -= 1;
      if (line[0] !== "-") left[1] -= 1;
      continue;
    }
    const git = /^diff --git a\/(.*?) b\/([^]*)$/.exec(line);
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/.exec(line);
    if (git) begin(git[2]);
    else if (line.startsWith("--- ")) {
      if (!file || file.rows.length || steps.length || file.named) begin(plain(line.slice(4)));
      file.named = true;
      if (line.slice(4).startsWith("/dev/null")) file.change = "added";
    } else if (line.startsWith("+++ ") && file) {
      if (line.slice(4).startsWith("/dev/null")) file.change = "deleted";
      else file.path = plain(line.slice(4));
    } else if (line.startsWith("new file mode") && file) file.change = "added";
    else if (line.startsWith("deleted file mode") && file) file.change = "deleted";
    else if (line.startsWith("rename from ") && file) [file.from, file.change] = [line.slice(12), "moved"];
    else if (hunk && file) {
      flush();
      numbers = [Number(hunk[1]), Number(hunk[3])];
      left = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
      if (hunk[5] || file.rows.length) file.rows.push({ kind: "gap", text: hunk[5] || "…" });
    }
  }
  flush();
  for (const one of files) delete one.named;
  return files;
}

function plain(name) {
  return name.split("\t")[0].trim().replace(/^[ab]\//, "");
}
