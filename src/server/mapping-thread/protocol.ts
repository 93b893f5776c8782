import type { StoredReads, Tasks } from '../../admin/mapping-tasks.ts';

/** A message to the thread: a task, or the answer to a read. */
export type ToThread =
  | { [Name in keyof Tasks]: { kind: 'task'; name: Name; input: Tasks[Name]['input'] } }[keyof Tasks]
  | { kind: 'answer'; id: number; value: unknown };

/** A message from the thread: a read of the database, or the end of the task. `max`: the size that its result exceeds, in characters. */
export type FromThread =
  | { kind: 'read'; id: number; name: keyof StoredReads; values: unknown[] }
  | { kind: 'result'; value: unknown }
  | { kind: 'tooLarge'; max: number }
  | { kind: 'failed'; error: unknown };
