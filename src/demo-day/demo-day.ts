import { join } from 'node:path';
import type { DemoDayState } from '../admin/demo-day.ts';
import { DEMO_CONNECTION, type DemoDay } from '../admin/demo-day.ts';
import { type Fault, SettingsFault } from '../config/faults.ts';
import { type ConnectionSettings, readMapping } from '../config/settings.ts';
import { OperationError } from '../operations/errors.ts';
import { readScenarios, type Scenario } from '../replay/scenario.ts';
import { ensureConnection } from '../store/connections.ts';
import { hasRecords } from '../store/demo-day.ts';
import { countServers } from '../store/queues/replicas.ts';
import { type DemoConnection, type DemoConnectionDeps, demoConnection } from './connection.ts';
import { acquireDemoDay, type DemoDayLease, readSavedDemoDay, type SavedDemoDay } from './lease.ts';
import { DEMO_FIELD, type PlayDeps, playDemoDay } from './play.ts';
import { removeDemoDay } from './remove.ts';

/** Dependencies of the demo day. */
export interface DemoDayDeps extends DemoConnectionDeps, Pick<PlayDeps, 'openScimServer'> {
  /** The folder with the recorded day and its mapping; undefined: there is no demo day. */
  folder: string | undefined;
}

/** The demo day of one process among several. */
export interface ServedDemoDay extends DemoDay {
  /** Serves the connection as long as the demo day exists, also if another process creates or removes it. */
  follow(): void;
  /** Interrupts a demo day that this process plays, and ends `follow`. */
  stop(): Promise<void>;
}

/** Creates the demo day of this process. The database says how far it is, so that each replica can go on with it. */
export function demoDay(deps: DemoDayDeps): ServedDemoDay {
  const { settings, embedded } = deps.parts;
  if (!embedded)
    return withoutDemoDay(
      'The demo day is played to the embedded travel service only, and no connection uses that.',
    );
  if (settings.connections.some(({ id }) => id === DEMO_CONNECTION))
    return withoutDemoDay(
      `The settings have a connection ${DEMO_CONNECTION}, whose name the demo day needs.`,
    );
  const { folder } = deps;
  if (folder === undefined) return withoutDemoDay('The files of the demo day are not installed.');
  let day: RecordedDay | undefined;
  const readDay = () => {
    day ??= readRecordedDay(folder);
    return day;
  };
  return storedDemoDay({ ...deps, travel: embedded.travel, readDay });
}

function withoutDemoDay(refusal: string): ServedDemoDay {
  const refuse = async () => {
    throw new OperationError('conflict', refusal);
  };
  return {
    ...{ play: refuse, undo: refuse, follow: () => {}, stop: async () => {}, removals: () => 0 },
    read: async () => ({ phase: 'none', done: 0, total: 0, refusal }),
  };
}

type Mapping = NonNullable<ConnectionSettings['mapping']>;

interface RecordedDay {
  scenario: Scenario;
  mapping: Mapping;
}

function readRecordedDay(folder: string): RecordedDay {
  const [scenario] = readScenarios(join(folder, 'demo-day.json'));
  const faults: Fault[] = [];
  const mapping = readMapping(join(folder, 'mapping.json'), faults);
  if (!scenario || !mapping || faults.length > 0) throw new SettingsFault(faults);
  return { scenario, mapping: withOwnField(mapping) };
}

/** No mapping of another connection names the custom field of the demo day, so that it changes nobody else. */
function withOwnField(mapping: Mapping): Mapping {
  const scimUserMapping = mapping.scimUserMapping.map((rule) =>
    rule.customField === undefined ? rule : { ...rule, customField: DEMO_FIELD },
  );
  return { ...mapping, scimUserMapping };
}

type StoredDeps = DemoDayDeps & Pick<PlayDeps, 'travel'> & { readDay(): RecordedDay };

function storedDemoDay(deps: StoredDeps): ServedDemoDay {
  const { parts } = deps;
  const end = new AbortController();
  const connection = demoConnection(deps, () => deps.readDay().mapping);
  const read = () => readState(connection);
  const remove = (lease: DemoDayLease) => removeUnderLease(deps, connection, lease);
  let playing: Promise<void> | undefined;
  let following: Promise<void> | undefined;
  return {
    read,
    removals: connection.removals,
    play: async () => {
      const before = await read();
      if (before.phase !== 'none' && before.phase !== 'interrupted') return before;
      if (before.phase === 'none') await requireFreeName(deps);
      const lease = await acquireNew(deps, remove);
      // Another process has begun at the same moment.
      if (!lease) return read();
      const begun = newState(deps);
      await lease.save(begun);
      const { scenario } = deps.readDay();
      const work = lease.during(() =>
        playDemoDay({ ...deps, scenario, connection, signal: end.signal }, { lease, begun }),
      );
      playing = work.catch((error: unknown) => {
        parts.log.error({ err: error }, 'the demo day was interrupted');
      });
      return read();
    },
    undo: async () => {
      if ((await read()).phase === 'none') return read();
      const lease = await acquireDemoDay(parts);
      if (!lease) throw new OperationError('conflict', BUSY);
      await lease.during(remove);
      return read();
    },
    follow: () => {
      following = connection.follow(end.signal);
    },
    stop: async () => {
      end.abort();
      await Promise.all([playing, following]);
    },
  };
}

const BUSY = 'The demo day is being played or removed at the moment. Wait until that has ended.';

async function readState(connection: DemoConnection): Promise<DemoDayState> {
  const found = await connection.sync();
  if (!found) return { phase: 'none', done: 0, total: 0, refusal: undefined };
  const { phase = 'playing', done = 0, total = 0 } = readSavedDemoDay(found.state) ?? {};
  const isInterrupted = phase !== 'played' && !found.isHeld;
  return { phase: isInterrupted ? 'interrupted' : phase, done, total, refusal: undefined };
}

/** Refuses to use a connection of this name that another server has in its settings, or that remains of earlier settings. */
async function requireFreeName({ parts: { database, runtime } }: StoredDeps): Promise<void> {
  const servers = await countServers(database.db, database.dialect, runtime.now());
  if (servers.has(DEMO_CONNECTION))
    throw new OperationError(
      'conflict',
      `Another running server has a connection ${DEMO_CONNECTION}, whose name the demo day needs. If it was just killed, try again in 20 seconds.`,
    );
  if (!(await hasRecords(database, DEMO_CONNECTION))) return;
  throw new OperationError(
    'conflict',
    `The database has people of a connection ${DEMO_CONNECTION} of earlier settings. Remove them first: npx jetbridge connections forget ${DEMO_CONNECTION}`,
  );
}

/**
 * Creates the connection and acquires the lease on a new demo day, after an interrupted one was removed. Returns undefined if
 * another process plays it, or has played it meanwhile.
 */
async function acquireNew(
  { parts }: StoredDeps,
  remove: (lease: DemoDayLease) => Promise<void>,
): Promise<DemoDayLease | undefined> {
  const own = parts.settings.connections.find(({ travelApi }) => travelApi.url === 'embedded');
  const { account } = own ?? { account: 'embedded' };
  for (;;) {
    await ensureConnection(parts.database, { id: DEMO_CONNECTION, account });
    const lease = await acquireDemoDay(parts);
    if (!lease?.state) return lease;
    const isPlayed = lease.state.phase === 'played';
    await lease.during(isPlayed ? async () => {} : remove);
    if (isPlayed) return undefined;
  }
}

function newState({ readDay, travel, parts: { runtime } }: StoredDeps): SavedDemoDay {
  const [since, total] = [runtime.wallClock(), readDay().scenario.steps.length];
  return { phase: 'playing', since, done: 0, total, fieldId: travel.newId('A') };
}

/** First no replica serves the connection any more, so that nothing is created while everything is removed. */
async function removeUnderLease(
  deps: StoredDeps,
  connection: DemoConnection,
  lease: DemoDayLease,
): Promise<void> {
  const { parts } = deps;
  const state = lease.state ?? newState(deps);
  await lease.save({ ...state, phase: 'removing' });
  await connection.sync();
  const { account } = parts.database.scopeOf(DEMO_CONNECTION);
  const addresses = [...new Set(JSON.stringify(deps.readDay().scenario).match(/[\w.]+@[\w.]+/g))];
  await removeDemoDay(parts, {
    scope: { account, connection: DEMO_CONNECTION },
    ...{ fieldId: state.fieldId, since: state.since, addresses, extend: lease.extend },
  });
  await connection.sync();
}
