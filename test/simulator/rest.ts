import type { Identity } from '../../src/model/identity.ts';
import { sentences } from './promises.ts';
import { FEED_MS, type World } from './world.ts';

/** Work that is planned for later than this is no part of coming to rest, in milliseconds. */
const HORIZON_MS = 65 * 60_000;
/** The time between two looks at the work that is left, in milliseconds. */
const LOOK_MS = 1_500;
const MAX_LOOKS = 400;
/** A call that may be carried out late is settled within this time after that, in milliseconds. */
const SETTLED_MS = 5_000;
const FAILED_IMPORT_MS = 61_000;

/**
 * While somebody is due, calls follow each other within this time, in milliseconds: a call that is not answered takes 10 s, and the circuit
 * breaker lets a probe pass 30 s after the last one failed.
 */
const MAX_SILENCE_MS = 50_000;

/** The work that is left, of identities and imports. */
interface OpenWork {
  isBusy: boolean;
  /** True if an identity is due that no attempt has a lease for. */
  isAnyoneDue: boolean;
  /** The time of the next work; undefined if none is planned soon. */
  nextAt: number | undefined;
  text: string;
}

/** Lets time pass until no work is left. Returns the work that never ends, in words; undefined at rest. */
export async function comeToRest(
  world: World,
  { withImport }: { withImport: boolean },
): Promise<string | undefined> {
  const { time, travel } = world;
  // A user that was written in the millisecond in which an import begins counts as seen by it.
  if (withImport) await time.run(1);
  for (const replica of world.replicas()) {
    replica.refreshRules();
    if (withImport) replica.importAgain();
  }
  if (world.connections.some(({ feed }) => feed)) {
    // A poll that waits for a slow answer has read the feed before the last changes.
    while (await isFeedBeingRead(world)) await time.run(LOOK_MS);
    // A poll of the feed may have failed once.
    await time.run(2 * FEED_MS);
  }
  let open: OpenWork = { isBusy: true, isAnyoneDue: false, nextAt: undefined, text: '' };
  let areRulesReadAgain = false;
  const silence = watchSilence(world);
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    await time.run(LOOK_MS);
    open = await readOpenWork(world);
    silence.check(open);
    if (open.isBusy || travel.areCallsOpen()) continue;
    if (open.nextAt === undefined && areRulesReadAgain) return undefined;
    if (open.nextAt === undefined) {
      // While the circuit breaker paused the calls, the rules could not be read. The next reading of the loop is a minute later.
      for (const replica of world.replicas()) replica.refreshRules();
      areRulesReadAgain = true;
    } else {
      time.jump(Math.max(0, open.nextAt - time.now()));
      silence.restart();
    }
  }
  return open.text;
}

async function isFeedBeingRead({ database, time }: World): Promise<boolean> {
  const polls = await database.db
    .selectFrom('background_task')
    .select('kind')
    .where('kind', '=', 'feed')
    .where('lease_until', '>', time.now())
    .execute();
  return polls.length > 0;
}

/** Watches the time for which no call is sent although somebody is due. */
function watchSilence({ travel, time }: Pick<World, 'travel' | 'time'>) {
  let calls = 0;
  let since = 0;
  const restart = () => {
    calls = travel.calls();
    since = time.now();
  };
  restart();
  return {
    restart,
    /** Throws if the silence has lasted for too long. */
    check: ({ isAnyoneDue, text }: OpenWork): void => {
      if (!isAnyoneDue || travel.calls() > calls) restart();
      if (time.now() - since > MAX_SILENCE_MS)
        throw new Error(`somebody is due, and no call is sent: ${text} [6. ${sentences[6]}]`);
    },
  };
}

async function readOpenWork({ database, time, shadowSince }: World): Promise<OpenWork> {
  const { db } = database;
  const now = time.now();
  const found = await db
    .selectFrom('identity')
    .select(['connection_id', 'id', 'state', 'lease_until', 'next_attempt_at', 'check_at', 'finding_codes'])
    .select('read_again_at')
    .where((row) =>
      // A process that ends may leave a lease behind where nothing is to be done. Once it is over, it is no work.
      row.or([row('state', '=', 'dirty'), row('lease_until', '>', now), row('check_at', '>', 0)]),
    )
    .orderBy('id')
    .execute();
  // In shadow mode, what is planned waits for as long as the mode lasts. Calls of the time before it end.
  const rows = found.filter(
    (row) =>
      !shadowSince.has(row.connection_id) ||
      Number(row.lease_until ?? 0) > now ||
      Number(row.read_again_at ?? 0) > now - SETTLED_MS,
  );
  const tasks = await db
    .selectFrom('background_task')
    .select(['kind', 'lease_until', 'requested', 'due_at'])
    .where((row) =>
      row.or([row('lease_until', '>', now), row('requested', '=', 1), row('kind', '=', 'import')]),
    )
    .execute();
  // An attempt that was under way when rules changed is found by the next look at the rules, a minute later.
  const stale = await db
    .selectFrom('identity')
    .innerJoin('rules_in_force', 'rules_in_force.connection_id', 'identity.connection_id')
    .select(['identity.id', 'rules_generation'])
    .where('claimed', '=', 1)
    .where('rules_generation', '>', 0)
    .whereRef('rules_generation', '<', 'rules_in_force.generation')
    .execute();
  // The process that has changed a group may have died before it made others dirty. A process looks for that each minute.
  const changed = await Promise.all([
    db.selectFrom('changed_group').select('connection_id').execute(),
    db.selectFrom('changed_scope').select('connection_id').execute(),
  ]);
  const running = tasks.filter(
    ({ lease_until, requested }) => Number(lease_until ?? 0) > now || Number(requested) === 1,
  );
  // An import that has failed is due again in a minute.
  const failed = tasks
    .filter(({ due_at }) => Number(due_at) < now + FAILED_IMPORT_MS)
    .map(({ due_at }) => Number(due_at));
  const due = rows.map(({ state, next_attempt_at, check_at, lease_until }) => {
    if (Number(lease_until ?? 0) > now) return 0;
    return state === 'dirty' ? Number(next_attempt_at ?? 0) : Number(check_at);
  });
  const isDue = (row: (typeof rows)[number]) =>
    row.state === 'dirty' && Number(row.lease_until ?? 0) <= now && Number(row.next_attempt_at ?? 0) <= now;
  const later = [...failed, ...due.filter((at) => at < now + HORIZON_MS)].filter((at) => at > now);
  return {
    isBusy:
      [...running, ...stale, ...changed.flat()].length > 0 || [...failed, ...due].some((at) => at <= now),
    isAnyoneDue: rows.some(isDue),
    nextAt: later.length > 0 ? Math.min(...later) : undefined,
    text: [...rows, ...running, ...stale, ...changed.flat()].map((row) => JSON.stringify(row)).join(' '),
  };
}

/** Reads all users of IdPs, deleted ones included. */
export async function readIdentities({
  database,
  store,
}: Pick<World, 'database' | 'store'>): Promise<Identity[]> {
  const query = database.db.selectFrom('identity').select(['connection_id', 'id']).where('claimed', '=', 1);
  const rows = await query.orderBy('id').execute();
  const found = await Promise.all(rows.map((row) => store.identities.findById(row.connection_id, row.id)));
  return found.filter((one) => one !== undefined);
}
