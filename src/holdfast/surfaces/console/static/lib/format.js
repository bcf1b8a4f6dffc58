// Numbers and times as people read them. Pure: everything it needs is handed in.

const UNITS = ["B", "KB", "MB", "GB", "TB"];

/** A size: `1.2 MB`. */
export function bytes(count) {
  let value = Number(count) || 0;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** A duration in milliseconds: `45 ms`, `1.2 s`, `3 min 5 s`, `2 h 10 min`. */
export function duration(ms) {
  if (ms === null || ms === undefined || Number.isNaN(Number(ms))) return "";
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`.replace(" 0 s", "");
  const hours = Math.floor(minutes / 60);
  return `${hours} h ${minutes % 60} min`.replace(" 0 min", "");
}

/** How long ago, in one short word: `now`, `4m`, `3h`, `2d`, then the date. */
export function age(at, now = Date.now()) {
  const passed = (now - new Date(at).getTime()) / 1000;
  if (Number.isNaN(passed)) return "";
  if (passed < 45) return "now";
  if (passed < 3600) return `${Math.max(1, Math.round(passed / 60))}m`;
  if (passed < 86400) return `${Math.round(passed / 3600)}h`;
  if (passed < 86400 * 14) return `${Math.round(passed / 86400)}d`;
  return new Date(at).toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" });
}

/** A moment in full, here and in UTC: for titles. */
export function moment(at) {
  const when = new Date(at);
  if (Number.isNaN(when.getTime())) return "";
  return `${when.toLocaleString()} (${when.toISOString()})`;
}

/** The time of day. */
export function clock(at) {
  const when = new Date(at);
  return Number.isNaN(when.getTime()) ? "" : when.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

/** A count in few characters: `950`, `12.3k`, `1.2M`. */
export function count(value) {
  const number = Number(value) || 0;
  if (number < 1000) return String(number);
  if (number < 1e6) return `${(number / 1e3).toFixed(number < 1e4 ? 1 : 0)}k`.replace(".0k", "k");
  return `${(number / 1e6).toFixed(1)}M`.replace(".0M", "M");
}

/** `1 call`, `2 calls`. */
export function many(number, one, more = `${one}s`) {
  return `${number} ${number === 1 ? one : more}`;
}

/** A path with its beginning left out where it is long. */
export function shortPath(path, longest = 48) {
  if (!path || path.length <= longest) return path ?? "";
  return `…${path.slice(path.length - longest + 1)}`;
}

/** The first line, and no more of it than fits. */
export function firstLine(content, longest = 160) {
  const line = String(content ?? "").trim().split("\n", 1)[0];
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}
