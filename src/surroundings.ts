import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Surroundings } from './bridge/ports.ts';

/** The real time, randomness and log. */
export function realSurroundings(
  log: Logger,
  checkpoint: Surroundings['checkpoint'] = () => {},
): Surroundings {
  return {
    now: Date.now,
    newId: randomUUID,
    random: Math.random,
    // An aborted wait has ended, too.
    wait: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined),
    log,
    checkpoint,
  };
}
