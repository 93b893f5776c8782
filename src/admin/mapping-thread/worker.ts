import { parentPort } from 'node:worker_threads';
import { mappingTasks, type StoredReads, type Tasks } from '../../operations/mappings/mapping-tasks.ts';
import type { FromThread, ToThread } from './thread.ts';

// The program of the thread that computes with the mappings of admins (docs/decisions/0045-mappings-have-limits.md).

const port = parentPort;
if (!port) throw new Error('this file is the program of a thread');
const send = (message: FromThread) => port.postMessage(message);

/** The reads that the main thread has not answered yet. */
const unanswered = new Map<number, (value: unknown) => void>();
let asked = 0;

/** Asks the main thread for data of the database. A read that fails ends the task there. */
function read<Name extends keyof StoredReads>(name: Name): StoredReads[Name] {
  const ask = (...values: unknown[]) =>
    new Promise((resolve) => {
      asked += 1;
      unanswered.set(asked, resolve);
      send({ kind: 'read', id: asked, name, values });
    });
  // The main thread answers with what the function of this name returns there.
  return ask as StoredReads[Name];
}

const reads: StoredReads = {
  findById: read('findById'),
  find: read('find'),
  findHolder: read('findHolder'),
  isErased: read('isErased'),
  isWaitedFor: read('isWaitedFor'),
  findPage: read('findPage'),
  findReferenceRows: read('findReferenceRows'),
  findMemberships: read('findMemberships'),
  findUnknownGroupNames: read('findUnknownGroupNames'),
};
const tasks = mappingTasks(reads, { maxMs: 5_000 });

function runTask<Name extends keyof Tasks>(name: Name, input: Tasks[Name]['input']): Promise<unknown> {
  return tasks[name](input);
}

/** The size of the largest result, in characters of its JSON. */
const MAX_RESULT = 5_000_000;

function isTooLarge(value: unknown): boolean {
  return JSON.stringify(value).length > MAX_RESULT;
}

port.on('message', (message: ToThread) => {
  if (message.kind === 'answer') {
    unanswered.get(message.id)?.(message.value);
    unanswered.delete(message.id);
    return;
  }
  send({ kind: 'began' });
  runTask(message.name, message.input).then(
    // The main thread copies the result and sends it as JSON, while no other request is served.
    (value) => send(isTooLarge(value) ? { kind: 'tooLarge', max: MAX_RESULT } : { kind: 'result', value }),
    (error: unknown) => send({ kind: 'failed', error }),
  );
});
