import type { Holds } from '../../store/queues/holds.ts';
import type { FieldKey } from '../../translator/translation.ts';
import type { Connection } from '../connection.ts';
import type { HeldRules } from '../holds/holds.ts';
import { type Identity, isInactive } from '../identity.ts';
import type { StoreReadDeps } from '../reconcile/run/store-reads.ts';
import type { Runtime } from '../runtime-ports.ts';
import { comparePreviews, type FieldChange, travelerPreviewer } from './mapping-effect.ts';
import { type MappingPreview, yieldBetweenBatches } from './preview-mapping.ts';
import type { RulesSnapshot } from './rules-snapshot.ts';

/** A change of rules or lookups that affects more people than this waits for an admin's approval. */
const MAX_PEOPLE = 100;
/**
 * Changes within this time are counted together, in milliseconds: a list of lookups may also lose its entries one at a
 * time.
 */
const COMBINED_MS = 10 * 60_000;
const BATCH = 100;
/** Number of approved generations that are remembered for each connection. */
const REMEMBERED = 10;
/** The time for which a count may continue after the service was asked to stop, in milliseconds. */
const GRACE_MS = 1_000;

interface RulesChangesDeps extends StoreReadDeps {
  holds: Pick<Holds, 'findHeldRules' | 'saveHeldRules' | 'findTranslatedEarlier'>;
  runtime: Pick<Runtime, 'now'>;
}

export type RulesChanges = ReturnType<typeof rulesChanges>;

/**
 * Decides whether changed rules and lookups may be applied to identities, or first need an admin's approval. The first replica that has checked a change decides for all: its decision is stored for the
 * generation, and so are the people whom recent changes affected.
 */
export function rulesChanges(deps: RulesChangesDeps) {
  const checks = new Map<string, Promise<boolean>>();
  const approved = new Map<string, number[]>();
  /**
   * Returns true if identities may be reconciled with this snapshot. A snapshot that would change too many people is held,
   * and the result is false until an admin approves it.
   */
  const mayFollow = async (
    connection: Connection,
    snapshot: RulesSnapshot,
    signal?: AbortSignal,
  ): Promise<boolean> => {
    // Checks of one connection run one after the other, so that concurrent callers get the same result.
    const before = checks.get(connection.id) ?? Promise.resolve(false);
    const next = before.then(() => checkChange(deps, { connection, snapshot, signal }));
    checks.set(
      connection.id,
      next.catch(() => false),
    );
    const may = await next;
    const others = (approved.get(connection.id) ?? []).filter((one) => one !== snapshot.generation);
    approved.set(connection.id, may ? [snapshot.generation, ...others].slice(0, REMEMBERED) : others);
    return may;
  };
  return {
    mayFollow,
    /**
     * Like `mayFollow`, for one identity whose reconciliation has begun with this snapshot. An approved snapshot is not
     * checked again, even if another snapshot has replaced it meanwhile.
     */
    mayReconcile: async (connection: Connection, snapshot: RulesSnapshot): Promise<boolean> => {
      const isKnownApproved = approved.get(connection.id)?.includes(snapshot.generation);
      return isKnownApproved || mayFollow(connection, snapshot);
    },
  };
}

/** True if the mapping of a preview, once in force, would wait for an admin's approval. */
export function needsApproval({ changed }: Pick<MappingPreview, 'changed'>): boolean {
  return changed > MAX_PEOPLE;
}

interface RulesChange {
  connection: Connection;
  snapshot: RulesSnapshot;
  signal: AbortSignal | undefined;
}

async function checkChange(deps: RulesChangesDeps, change: RulesChange): Promise<boolean> {
  const { id } = change.connection;
  const { generation } = change.snapshot;
  const last = await deps.holds.findHeldRules(id);
  if (last && last.generation >= generation) return isApproved(last, generation);
  const before = recentChanges(last?.recent, deps.runtime.now());
  const changed = await changedPeople(deps, change, before);
  if (!changed) return false;
  const now = deps.runtime.now();
  const isHeld = changed.size > MAX_PEOPLE;
  // If another change already waits for an admin, one decision covers both, so keep the time of the first.
  const since = isHeld && last && last.answer === undefined ? last.since : now;
  const held: HeldRules = {
    ...{ connection: id, generation, people: changed.size, since },
    answer: isHeld ? undefined : 'approved',
    recent: isHeld ? before : changed,
  };
  return isApproved(await deps.holds.saveHeldRules(held), generation);
}

/** A later change decides about itself; until this process has loaded it, nothing is reconciled with the earlier one. */
function isApproved(held: HeldRules, generation: number): boolean {
  return held.generation === generation && held.answer === 'approved';
}

/** The ids of the people whom changes of rules affected, each with the time of the change. */
type Changed = ReadonlyMap<string, number>;

function recentChanges(changed: Changed = new Map(), now: number): Changed {
  return new Map([...changed].filter(([, at]) => at <= now && now - at < COMBINED_MS));
}

/**
 * Returns the people affected by this change and by recent ones; the count stops at the limit. Undefined if the service
 * stops meanwhile.
 */
async function changedPeople(
  deps: RulesChangesDeps,
  { connection, snapshot, signal }: RulesChange,
  before: Changed,
): Promise<Changed | undefined> {
  const { now } = deps.runtime;
  const changed = new Map(before);
  const yieldIfDue = yieldBetweenBatches(now);
  const begun = now();
  for (let after = ''; ; ) {
    const people = await deps.holds.findTranslatedEarlier(connection.id, snapshot.generation, {
      after,
      limit: BATCH,
    });
    for (const identity of people) {
      const changes = await countedChanges(deps, connection, { identity, snapshot });
      if (changes.length > 0) changed.set(identity.id, now());
      if (changed.size > MAX_PEOPLE) return changed;
      if (signal?.aborted && now() - begun > GRACE_MS) return undefined;
      await yieldIfDue();
    }
    const last = people.at(-1);
    if (people.length < BATCH || !last) return changed;
    after = last.id;
  }
}

/** Returns the changes by the snapshot that count: of fields that the bridge has already set as the IdP wanted. */
export async function countedChanges(
  deps: StoreReadDeps,
  connection: Connection,
  { identity, snapshot }: { identity: Identity; snapshot: RulesSnapshot },
): Promise<FieldChange[]> {
  if (hasPendingWrite(identity)) return [];
  const preview = await travelerPreviewer(deps, { connection, identity })(snapshot);
  const { outcome, changes } = comparePreviews(identity, undefined, preview);
  // Two changes do not count: a deactivation, because the IdP requested it, and a refused value, because it is sent
  // again after every change of rules. An active person is archived or restored because of the scope.
  const isRequested = (field: FieldKey) => field === 'archived' && isInactive(identity);
  if (outcome !== 'changed') return [];
  return changes.filter(({ field, isAgain }) => !isRequested(field) && !isAgain);
}

/**
 * True if a write of the IdP has not been sent yet or is held. What would be sent for this identity then does not come
 * from the rules.
 */
function hasPendingWrite({ state, hold, progress, version }: Identity): boolean {
  if (state === 'dirty') return progress.settledVersion !== version;
  return state === 'held' && hold?.cause !== 'rules';
}
