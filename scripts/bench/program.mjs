import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with package.json. */
export const home = fileURLToPath(new URL('../..', import.meta.url));
const probe = new URL('probe.mjs', import.meta.url).href;

/** The time after SIGTERM in which a program must end, in milliseconds. */
const STOP_MS = 15_000;

/** The length of the end of a program's log that the error shows if it ends too early, in characters. */
const TAIL = 500;

/** Returns the path of a program in this folder. */
export function script(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Returns the words that run a program in this folder which imports the sources. */
export function fromSources(name) {
  return ['--import', new URL('../typescript.mjs', import.meta.url).href, script(name)];
}

/**
 * Starts a Node program with the probe, in an environment of its own, with its output in a file. It is stopped at the latest when
 * the workplace closes. `receive` resolves with the next message that has that name.
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
  // Its last messages may arrive after the event `exit`; the event `disconnect` comes when all of them were read.
  const exited = Promise.all([once(child, 'exit'), once(child, 'disconnect')]).then(([[code, signal]]) => {
    throw new Error(`${name} ended (${signal ?? code}): ${readFileSync(log, 'utf8').slice(-TAIL)}`);
  });
  // `receive` rejects if the program ends too early. A program that was stopped ends without an error.
  exited.catch(() => {});
  onClose(() => stop(child));
  const receive = (key) => Promise.race([message(child, key), exited]);
  return {
    log,
    exited,
    receive,
    /** Sends the message, and returns the next answer that has this key. The program answers in order. */
    call: async (message, key) => {
      const answer = receive(key);
      child.send(message, () => {});
      return answer;
    },
    onMessage: (listener) => child.on('message', listener),
    /** CPU in microseconds, memory in bytes. */
    usage: async () => {
      const answer = receive('usage');
      // If the program has ended, `exited` rejects with the reason.
      child.send('usage', () => {});
      return answer;
    },
  };
}

/** Resolves with this member of the next message that has it. Messages may arrive together, and each listener reads all of them. */
function message(child, key) {
  return new Promise((resolve) => {
    const listener = (received) => {
      if (!Object.hasOwn(received, key)) return;
      child.off('message', listener);
      resolve(received[key]);
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
