import type { Connection } from './connection.ts';
import type { Identity } from './identity.ts';
import { comparePreviews, type PreviewDeps, travelerPreviewer } from './mapping-effect.ts';
import { yieldBetweenBatches } from './preview-mapping.ts';
import type { RulesSnapshot } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Holds } from './store-ports.ts';

/** More people than this must not change because of rules or lookups until an admin approves. */
const MOST_PEOPLE = 100;
/** Changes that follow each other count together: a list of lookups may also shrink entry by entry. */
const TOGETHER_MS = 10 * 60_000;
const BATCH = 100;
/** So many versions of rules and lookups that people may follow are remembered for each connection. */
const REMEMBERED = 10;
/** How long a count may go on after the service was told to stop. */
const GRACE_MS = 1_000;

/** Judges changes of rules and lookups before people follow them. */
export interface RulesChanges {
  /**
   * Whether people may follow the rules and lookups of the basis now. If they would change more people than may change
   * without an admin, the change of rules is held, and this answers false until an admin approves.
   */
  mayFollow(connection: Connection, basis: RulesSnapshot, signal?: AbortSignal): Promise<boolean>;
  /**
   * The same for one person whose reconciliation has begun with this basis. Another basis may have taken its place since,
   * so a basis that was found harmless before is not judged again.
   */
  mayReconcile(connection: Connection, basis: RulesSnapshot): Promise<boolean>;
}

interface Deps extends PreviewDeps {
  holds: Pick<Holds, 'findHeldRules' | 'saveHeldRules' | 'findTranslatedOtherwise'>;
  runtime: Pick<Runtime, 'now'>;
}

/** People by id, with when the rules changed them. */
type Changed = Map<string, number>;

/** Keeps in memory whom recent changes of rules concerned; a restart forgets it. */
export function rulesChanges(deps: Deps): RulesChanges {
  const recent = new Map<string, Changed>();
  const turns = new Map<string, Promise<boolean>>();
  const harmless = new Map<string, string[]>();
  const mayFollow: RulesChanges['mayFollow'] = async (connection, basis, signal) => {
    // One after the other: those who ask while a change is judged get the same answer.
    const before = turns.get(connection.id) ?? Promise.resolve(false);
    const next = before.then(() => judge(deps, recent, { connection, basis, signal }));
    turns.set(
      connection.id,
      next.catch(() => false),
    );
    const may = await next;
    const others = (harmless.get(connection.id) ?? []).filter((version) => version !== basis.version);
    harmless.set(connection.id, may ? [basis.version, ...others].slice(0, REMEMBERED) : others);
    return may;
  };
  return {
    mayFollow,
    mayReconcile: async (connection, basis) => {
      const isHarmless = harmless.get(connection.id)?.includes(basis.version);
      return isHarmless || mayFollow(connection, basis);
    },
  };
}

interface Judging {
  connection: Connection;
  basis: RulesSnapshot;
  signal: AbortSignal | undefined;
}

async function judge(deps: Deps, recent: Map<string, Changed>, judging: Judging): Promise<boolean> {
  const { id } = judging.connection;
  const { version } = judging.basis;
  const last = await deps.holds.findHeldRules(id);
  if (last?.version === version) return last.answer === 'approved';
  const changed = await changedPeople(deps, judging, recentOf(recent.get(id), deps.runtime.now()));
  if (!changed) return false;
  const now = deps.runtime.now();
  const people = changed.size;
  if (people > MOST_PEOPLE) {
    // Another change while one waits is the same matter for the admin.
    const since = last && last.answer === undefined ? last.since : now;
    await deps.holds.saveHeldRules({ connection: id, version, people, since, answer: undefined });
    return false;
  }
  recent.set(id, changed);
  await deps.holds.saveHeldRules({ connection: id, version, people, since: now, answer: 'approved' });
  return true;
}

function recentOf(changed: Changed = new Map(), now: number): Changed {
  return new Map([...changed].filter(([, at]) => at <= now && now - at < TOGETHER_MS));
}

/** The people whom recent changes and this one concern, no more than decide; undefined when the service stops meanwhile. */
async function changedPeople(
  deps: Deps,
  { connection, basis, signal }: Judging,
  before: Changed,
): Promise<Changed | undefined> {
  const { now } = deps.runtime;
  const changed = new Map(before);
  const rest = yieldBetweenBatches(now);
  const begun = now();
  for (let after = ''; ; ) {
    const people = await deps.holds.findTranslatedOtherwise(connection.id, basis.version, {
      after,
      limit: BATCH,
    });
    for (const identity of people) {
      if (await isChanged(deps, connection, { identity, basis })) changed.set(identity.id, now());
      if (changed.size > MOST_PEOPLE) return changed;
      if (signal?.aborted && now() - begun > GRACE_MS) return undefined;
      await rest();
    }
    const last = people.at(-1);
    if (people.length < BATCH || !last) return changed;
    after = last.id;
  }
}

/** Whether the basis sets or clears a field that the IdP's last write had settled otherwise. */
async function isChanged(
  deps: Deps,
  connection: Connection,
  { identity, basis }: { identity: Identity; basis: RulesSnapshot },
): Promise<boolean> {
  if (isUnsettled(identity)) return false;
  const outlook = await travelerPreviewer(deps, { connection, identity })(basis);
  const { outcome, changes } = comparePreviews(identity, undefined, outlook);
  // A deactivation is the IdP's, and a value that was refused before is sent again after any change.
  return outcome === 'changed' && changes.some(({ field, isAgain }) => field !== 'archived' && !isAgain);
}

/** What is on its way, or waits for an admin, is a change of the IdP's, whatever the rules. */
function isUnsettled({ state, hold, progress, version }: Identity): boolean {
  if (state === 'dirty') return progress.settledVersion !== version;
  return state === 'held' && hold?.cause !== 'rules';
}
