import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with package.json. */
export const home = fileURLToPath(new URL('../..', import.meta.url));
const probe = new URL('probe.mjs', import.meta.url).href;

/** After SIGTERM a service finishes what runs; nothing runs any more when the bench ends it. */
const STOP_MS = 15_000;

/** So much of what a program wrote last is told when it ends unasked, in characters. */
const TAIL = 500;

/** A program of this folder. */
export function script(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}

/**
 * Starts a Node program with the probe, in an environment of its own; its output goes to a file, as that of a service does. It
 * ends with the workplace at the latest. `told` answers the next message that has that name.
 */
export function launch({ folder, onClose }, { words, environment = {}, name, cwd = home }) {
  const log = join(folder, `${name}.log`);
  const output = openSync(log, 'w');
  const child = spawn(process.execPath, ['--import', probe, ...words], {
    cwd,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', output, output, 'ipc'],
  });
  closeSync(output);
  // What it said last may arrive after it has gone; the channel is closed when all of that was read.
  const exited = Promise.all([once(child, 'exit'), once(child, 'disconnect')]).then(([[code, signal]]) => {
    throw new Error(`${name} ended (${signal ?? code}): ${readFileSync(log, 'utf8').slice(-TAIL)}`);
  });
  // Who waits for an answer is told; that it ends when stopped is no fault.
  exited.catch(() => {});
  onClose(() => stop(child));
  const told = (key) => Promise.race([message(child, key), exited]);
  return {
    log,
    exited,
    told,
    /** What the program answers under that key when told this; it answers one after the other. */
    ask: async (message, key) => {
      const answer = told(key);
      child.send(message, () => {});
      return answer;
    },
    onMessage: (listener) => child.on('message', listener),
    /** CPU in microseconds, memory in bytes. */
    usage: async () => {
      const answer = told('usage');
      // That it has gone is told by `exited`.
      child.send('usage', () => {});
      return answer;
    },
  };
}

/** Several messages may come at once, so that one listener looks at them all. */
function message(child, key) {
  return new Promise((resolve) => {
    const listener = (told) => {
      if (!Object.hasOwn(told, key)) return;
      child.off('message', listener);
      resolve(told[key]);
    };
    child.on('message', listener);
  });
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await gone;
  clearTimeout(late);
}
