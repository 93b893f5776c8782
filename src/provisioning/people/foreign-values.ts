import type { Identity } from '../../model/identity.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import { findDrift } from '../../translator/plan/plan.ts';
import { isEqualJson } from '../../translator/values/values.ts';

/** After this time without a running server, in milliseconds, the database may have been restored. */
const GAP_MS = 10 * 60_000;
/** The time after the start in which values count, in milliseconds: the first import ends within it. */
const WATCH_MS = 60 * 60_000;
/** So many people with values that the bridge never sent are reported. */
export const MIN_PEOPLE = 3;

interface ForeignValuesDeps {
  /** The time before the start in which no server ran, in milliseconds. */
  gapMs: number;
  runtime: Pick<Runtime, 'now' | 'log'>;
}

export type ForeignValues = ReturnType<typeof foreignValues>;

/**
 * Recognises the signs of a restored database that is not known to be behind: after a time without a server, travelers have values in
 * owned fields that the bridge never sent. Admins of the travel service leave the same signs, so this is an alarm and no more.
 */
export function foreignValues({ gapMs, runtime: { now, log } }: ForeignValuesDeps) {
  const until = gapMs >= GAP_MS ? now() + WATCH_MS : 0;
  const people = new Map<string, Set<string>>();
  const listeners: ((connection: string, people: number) => void)[] = [];
  return {
    /** Looks at an identity as an attempt at it begins. */
    observe: (identity: Identity): void => {
      const { connection, id } = identity;
      if (until === 0 || now() > until || !hasForeignValue(identity)) return;
      const found = people.get(connection) ?? new Set();
      if (found.has(id)) return;
      people.set(connection, found.add(id));
      if (found.size !== MIN_PEOPLE) return;
      log.error(
        { connection, people: found.size, gapMs },
        'travelers have values that were never sent, after a time without a running server: if the database was restored, run "npx jetbridge restored" now; see docs/operations/restore-a-backup.md',
      );
      for (const listener of listeners) listener(connection, found.size);
    },
    /** The number of such people of each connection; from three on, it is a suspicion. */
    counts: () => [...people].map(([connection, found]) => ({ connection, people: found.size })),
    /** Calls the listener with each connection that has three such people, once. */
    onSuspicion: (listener: (connection: string, people: number) => void): void =>
      void listeners.push(listener),
  };
}

/** True if the traveler was seen with a value in an owned field that was not seen before, and that the bridge did not send. */
function hasForeignValue(identity: Identity): boolean {
  const { claimed, applied, observed, progress, version, findings, readAgainAt } = identity;
  const isSettled = claimed && progress.settledVersion === version && readAgainAt === undefined;
  if (!isSettled || !observed) return false;
  const isKnown = (field: string) => findings.some((one) => one.code === 'drift' && one.field === field);
  return findDrift(applied, observed).some(
    ({ field, value = null }) => !isKnown(field) && !isEqualJson(value, applied[field]?.sent ?? null),
  );
}
