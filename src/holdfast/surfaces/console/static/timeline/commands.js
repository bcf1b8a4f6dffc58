// The commands of a session that run now: looked for while it is at work, each followed by whoever
// shows it. One stream a command, however many show it.

import { part } from "../lib/api.js";
import { isRunning } from "../cards/terminal.js";

const EVERY = 2500;

/** `onChange(commands)` is told when one came or went. */
export function followCommands(session, app, { onChange, wanted }) {
  let commands = [];
  let timer = 0;
  let over = false;
  let asking = false;
  const streams = new Map();

  async function look() {
    clearTimeout(timer);
    if (over) return;
    if (!asking && document.visibilityState === "visible" && (wanted() || commands.some(isRunning))) {
      asking = true;
      try {
        const told = await app.api.get(`/sessions/${part(session)}/commands`);
        if (!over) set(told.commands);
      } catch {
        // Nobody answers: there is nothing to show, and the next look may find somebody.
        if (!over) set([]);
      } finally {
        asking = false;
      }
    }
    timer = setTimeout(look, EVERY);
  }

  function set(fresh) {
    const word = (all) => all.map((one) => `${one.id}:${isRunning(one)}`).join();
    const changed = word(fresh) !== word(commands);
    commands = fresh;
    if (changed) onChange(commands);
  }

  function update(command) {
    const known = commands.some((one) => one.id === command.id);
    set(known ? commands.map((one) => (one.id === command.id ? command : one)) : [...commands, command]);
  }

  look();
  return {
    all: () => commands,
    running: () => commands.filter(isRunning),
    /** Look now: a call has just begun. */
    soon: () => {
      clearTimeout(timer);
      timer = setTimeout(look, 250);
    },
    ofCall: (callId) => commands.find((one) => one.call_id === callId && isRunning(one)) ?? null,
    follow(id, listener) {
      let shared = streams.get(id);
      if (!shared) {
        shared = { listeners: new Set(), stream: null };
        streams.set(id, shared);
        const tell = (command) => {
          for (const one of [...shared.listeners]) one(command);
          update(command);
        };
        shared.stream = app.api.stream(`/sessions/${part(session)}/commands/${part(id)}/stream`, {
          on: {
            tail: tell,
            over: (command) => {
              shared.stream?.close();
              if (command?.id) tell(command);
              else look();
            },
          },
        });
      }
      shared.listeners.add(listener);
      return () => {
        shared.listeners.delete(listener);
        if (shared.listeners.size) return;
        shared.stream?.close();
        streams.delete(id);
      };
    },
    async terminate(id) {
      try {
        const { did } = await app.api.post(`/sessions/${part(session)}/commands/${part(id)}/terminate`);
        app.toast(did ? "The command is being ended" : "It was over already", { tone: did ? "ok" : "" });
        look();
      } catch (problem) {
        app.problem(problem);
      }
    },
    dispose: () => {
      over = true;
      clearTimeout(timer);
      for (const { stream } of streams.values()) stream?.close();
    },
  };
}
