import { setImmediate } from 'node:timers/promises';

/** Between two pieces of something long, lets the other requests have their turn; SQLite itself never does. */
export function breath(): Promise<void> {
  return setImmediate();
}
