// The HTTP API as functions. It knows paths and JSON; what things mean is known by the pages.

import { sseReader } from "./sse.js";

const ROOT = "/api/v1";
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;
/** A stream that says nothing at all for so long is taken for dead: quiet ones send comments. */
const SILENCE = 60000;
const HIDDEN = 20000;
const GLANCE = 3000;
const BETWEEN_GLANCES = 30000;

/** What the API refused, in its own words: `code`, `message`, `next` (what to do), `status`. */
export class ApiError extends Error {
  constructor({ code, message, next = null, status = 0 }) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.next = next;
    this.status = status;
  }
}

/** The address of something in the API; `query` may hold lists, and leaves out what is empty. */
export function address(path, query = {}) {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") asked.append(name, String(one));
    }
  }
  const text = asked.toString();
  return ROOT + path + (text ? `?${text}` : "");
}

/** A part of a path, with everything in it that could be taken for something else made harmless. */
export function part(value) {
  return encodeURIComponent(String(value));
}

export const api = {
  /** Read; `query` becomes the part behind the question mark. */
  get: (path, query = {}, { signal } = {}) => request("GET", address(path, query), { signal }),
  /** Write; `key` makes it safe to send again, and is made where there is none. */
  post: (path, body = {}, { key = newKey(), signal } = {}) =>
    request("POST", address(path), { body, key, signal }),
  /** Take away. */
  del: (path, { key = newKey(), signal } = {}) => request("DELETE", address(path), { key, signal }),
  /** The text of something that is no JSON, such as a file: `{text, type, whole}`. */
  text: readText,
  stream,
};

async function request(method, url, { body, key, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  const reply = await reach(url, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
  });
  if (!reply.ok) throw await refusal(reply);
  if (reply.status === 204) return null;
  const said = await reply.text();
  if (!said) return null;
  try {
    return JSON.parse(said);
  } catch {
    throw new ApiError({ code: "malformed", message: "The server's answer is no JSON.", status: reply.status });
  }
}

async function readText(path, query = {}, { signal } = {}) {
  const reply = await reach(address(path, query), { signal });
  if (!reply.ok) throw await refusal(reply);
  return { text: await reply.text(), type: reply.headers.get("Content-Type") ?? "", whole: reply.status === 200 };
}

async function reach(url, options) {
  try {
    return await fetch(url, { credentials: "same-origin", cache: "no-store", redirect: "error", ...options });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new ApiError({
      code: "offline",
      message: "The server does not answer.",
      next: "Look whether `holdfast serve` still runs.",
    });
  }
}

async function refusal(reply) {
  let told = null;
  try {
    told = (await reply.json()).error;
  } catch {
    // Whatever stands between answered in its own words: the status has to do.
  }
  return new ApiError({
    code: told?.code ?? "failed",
    message: told?.message ?? `The server answered ${reply.status}.`,
    next: told?.next ?? (reply.status === 401 ? "Open the console by the link that `holdfast serve` prints." : null),
    status: reply.status,
  });
}

function newKey() {
  return crypto.randomUUID();
}

/**
 * Follow a stream: `on` holds listeners by event name, each given the decoded data and the id.
 * It is taken up where it was when the connection is lost, without a gap, until `close()`.
 * `onState` is told "connecting", "open", "waiting" (with seconds) or "refused" (with an error).
 * A hidden page lets go of its connection after a while, as a browser has few of them, and takes
 * the stream up again when it is seen; with `glances` it looks for a moment now and then.
 */
export function stream(path, { query = {}, after = null, on = {}, onState = () => {}, glances = false } = {}) {
  const state = { last: after, closed: false, control: null, wait: FIRST_WAIT, timer: 0, ended: false };

  async function follow() {
    clearTimeout(state.timer);
    if (state.closed || state.control) return;
    const control = new AbortController();
    state.control = control;
    onState("connecting");
    let problem = null;
    try {
      await read(control);
    } catch (failure) {
      problem = failure;
    }
    if (state.control === control) state.control = null;
    if (state.closed || control.signal.reason === "paused") return;
    if (problem instanceof ApiError && problem.status >= 400 && problem.status < 500 && problem.status !== 429) {
      onState("refused", problem);
      return;
    }
    const wait = state.wait;
    state.wait = Math.min(state.wait * 2, LONGEST_WAIT);
    onState("waiting", Math.ceil(wait / 1000));
    state.timer = setTimeout(follow, wait);
  }

  async function read(control) {
    const headers = { Accept: "text/event-stream" };
    if (state.last !== null && state.last !== undefined) headers["Last-Event-ID"] = String(state.last);
    let silence = 0;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => control.abort("silent"), SILENCE);
    };
    heard();
    try {
      const reply = await reach(address(path, query), { headers, signal: control.signal });
      if (!reply.ok) throw await refusal(reply);
      onState("open");
      const decoder = new TextDecoder();
      const reader = sseReader();
      const pieces = reply.body.getReader();
      for (;;) {
        const { done, value } = await pieces.read();
        if (done) return;
        heard();
        state.wait = FIRST_WAIT;
        for (const message of reader.feed(decoder.decode(value, { stream: true }))) tell(message);
        if (state.closed) return;
      }
    } finally {
      clearTimeout(silence);
    }
  }

  function tell({ event, data, id }) {
    if (id !== null) state.last = id;
    const listener = on[event];
    if (listener) listener(data ? JSON.parse(data) : null, id);
  }

  function seen() {
    clearTimeout(hiding);
    if (document.visibilityState === "visible") {
      if (!state.control) {
        state.wait = FIRST_WAIT;
        follow();
      }
    } else hiding = setTimeout(pause, HIDDEN);
  }

  function pause() {
    clearTimeout(state.timer);
    state.control?.abort("paused");
    state.control = null;
    if (!glances || state.closed) return;
    hiding = setTimeout(() => {
      follow();
      hiding = setTimeout(pause, GLANCE);
    }, BETWEEN_GLANCES);
  }

  let hiding = 0;
  document.addEventListener("visibilitychange", seen);
  window.addEventListener("online", seen);
  follow();
  return {
    close() {
      state.closed = true;
      clearTimeout(state.timer);
      clearTimeout(hiding);
      document.removeEventListener("visibilitychange", seen);
      window.removeEventListener("online", seen);
      state.control?.abort("closed");
    },
    get last() {
      return state.last;
    },
  };
}
