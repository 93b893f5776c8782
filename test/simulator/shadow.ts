import { isDeepStrictEqual } from 'node:util';
import { type GoLiveResult, goLive } from '../../src/provisioning/shadow/go-live.ts';
import { summarizeShadow } from '../../src/provisioning/shadow/report.ts';
import type { ProvisioningStore } from '../../src/store/provisioning-store.ts';
import { type ConnectionName, connections } from '../histories/identity-providers.ts';
import { promises } from '../histories/invariants.ts';
import { MODES_MS } from './replica.ts';
import type { World } from './world.ts';

/** An attempt that has begun before the mode was known goes on: it may wait for calls that are not answered, at most for this time. */
const IN_FLIGHT_MS = 15_000;

/** The calls with an effect of connections that have been in shadow mode for longer than an attempt may take. */
export interface ShadowWatch {
  /** The time at which shadow mode began, by connection. */
  since: Map<string, number>;
  sent: string[];
}

export function newShadowWatch(): ShadowWatch {
  return { since: new Map(), sent: [] };
}

/** Notes a call with an effect. */
export function noteShadowCall(watch: ShadowWatch, connection: string, call: string, now: number): void {
  const since = watch.since.get(connection);
  if (since !== undefined && now > since + IN_FLIGHT_MS) watch.sent.push(`${connection}: ${call} was sent`);
}

/** Returns the store, with a note of each failed attempt in shadow mode that changes more than the plan. */
export function withShadowWatched(
  store: ProvisioningStore,
  { since, sent }: ShadowWatch,
  now: () => number,
): ProvisioningStore {
  return {
    ...store,
    leases: {
      ...store.leases,
      finish: async (connection, id, token, before, outcome) => {
        const begin = since.get(connection);
        if (begin !== undefined && now() > begin + IN_FLIGHT_MS && outcome.attempts > 0) {
          const stored = await store.identities.findById(connection, id);
          const isKept = !stored || KEPT.every((part) => isDeepStrictEqual(stored[part], outcome[part]));
          if (!isKept) sent.push(`${connection}: a failed attempt has changed what is stored of ${id}`);
        }
        return store.leases.finish(connection, id, token, before, outcome);
      },
    },
  };
}

const KEPT = ['travelId', 'creating', 'waitingFor', 'applied'] as const;

/** While processes stand still, so do the attempts that have begun before. */
export function delayShadowWatch({ since }: ShadowWatch, ms: number): void {
  for (const [connection, time] of since) since.set(connection, time + ms);
}

/** After a restore, the connections are in shadow mode that were at the backup, and nothing is in flight. */
export async function followRestoredModes({ store, time, shadowWatch: { since } }: World): Promise<void> {
  since.clear();
  for (const connection of connections)
    if (await store.modes.readShadow(connection)) since.set(connection, time.now());
}

/** An admin puts a connection into shadow mode. */
export async function enterShadow(world: World, connection: ConnectionName): Promise<void> {
  const { store, time, shadowWatch } = world;
  if (!(await store.modes.change(connection, { to: 'shadow', now: time.now() }))) return;
  shadowWatch.since.set(connection, time.now());
  world.story.tell(`connection ${connection} is in shadow mode`);
}

/** An admin goes live with the plan of a report, if the connection is in shadow mode. Returns the outcome; undefined if it is not. */
export async function leaveShadow(
  world: World,
  connection: ConnectionName,
): Promise<GoLiveResult['outcome'] | undefined> {
  const { store, time, shadowWatch } = world;
  const shadow = await store.modes.readShadow(connection);
  if (!shadow) return undefined;
  const { digest, people } = await summarizeShadow(store.shadowPlans.findPage, shadow, time.now());
  const request = {
    connection,
    digest,
    acceptedChanges: Number.MAX_SAFE_INTEGER,
    by: 'admin',
  };
  const result = await goLive(store, { ...request, now: time.now() });
  if (result.outcome === 'live') shadowWatch.since.delete(connection);
  world.story.tell(`connection ${connection} goes live: ${JSON.stringify([people, result.outcome])}`);
  for (const { service } of world.replicas()) service.wake();
  return result.outcome;
}

/** Planning under new rules begins within a minute. */
const PLANNING_MS = 90_000;

/** An admin goes live with all connections. Returns what was sent in shadow mode. */
export async function endShadow(world: World): Promise<string[]> {
  for (const connection of connections) {
    const outcome = await leaveShadow(world, connection);
    if (outcome === undefined) continue;
    await world.time.run(outcome === 'planning' ? PLANNING_MS : MODES_MS);
    if (outcome === 'planning') await leaveShadow(world, connection);
  }
  const { sent } = world.shadowWatch;
  return sent.splice(0).map((line) => `${line} in shadow mode [${promises.shadowHolds}]`);
}
