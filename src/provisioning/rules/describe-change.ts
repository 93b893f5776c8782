import type { Holds } from '../../store/queues/holds.ts';
import type { RulesStore } from '../../store/queues/rules-in-force.ts';
import type { Connection } from '../connection.ts';
import type { HeldRules } from '../holds/holds.ts';
import { type EffectCounter, effectCounter, type RulesEffect } from '../holds/rules-effect.ts';
import { userNameOf } from '../identity.ts';
import type { StoreReadDeps } from '../reconcile/run/store-reads.ts';
import type { Runtime } from '../runtime-ports.ts';
import { yieldBetweenBatches } from './preview-mapping.ts';
import { describeCauses } from './rules-cause.ts';
import { countedChanges } from './rules-change.ts';
import type { RulesSnapshot } from './rules-snapshot.ts';

const BATCH = 100;
/** The interval at which the result so far is saved, in milliseconds. */
const SAVE_MS = 2_000;

interface ChangeDescriberDeps extends StoreReadDeps {
  holds: Pick<Holds, 'findHeldRules' | 'findTranslatedEarlier' | 'saveEffect'>;
  rules: Pick<RulesStore, 'findFollowed' | 'listMappings'>;
  runtime: Pick<Runtime, 'now' | 'newId'>;
}

export type ChangeDescriber = ReturnType<typeof changeDescriber>;

/** A count that has begun. */
interface Count {
  generation: number;
  id: string;
  causes: string[];
  counter: EffectCounter;
  looked: number;
  /** The id of the last person who was looked at. */
  after: string;
}

/** Computes the whole effect of held changes of rules, for the admins who decide. */
export function changeDescriber(deps: ChangeDescriberDeps) {
  const counts = new Map<string, Count>();
  /** The progress of other replicas at the last look, by connection. */
  const others = new Map<string, string>();
  return {
    /**
     * Looks at everybody whom the snapshot may affect, if it is held, and saves the result as it grows. Stops when the signal is aborted, and
     * goes on at the next call. One replica counts; another takes over if the result has not grown between two calls.
     */
    describe: async (connection: Connection, snapshot: RulesSnapshot, signal: AbortSignal): Promise<void> => {
      const { id } = connection;
      const held = await deps.holds.findHeldRules(id);
      const known = counts.get(id);
      counts.delete(id);
      if (!isOpen(held, snapshot)) return;
      const isOwn = known && known.id === held.effect?.count && known.generation === snapshot.generation;
      const progress = `${held.effect?.count} ${held.effect?.looked}`;
      const isOfAnother = held.effect !== undefined && !isOwn && others.get(id) !== progress;
      others.set(id, progress);
      if (isOfAnother) return;
      const count = isOwn ? known : await beginCount(deps, connection, snapshot);
      if (count && (await goOn(deps, { connection, snapshot, count, signal })) === 'stopped')
        counts.set(id, count);
    },
  };
}

function isOpen(held: HeldRules | undefined, { generation }: RulesSnapshot): held is HeldRules {
  return held?.generation === generation && held.answer === undefined && !held.effect?.isComplete;
}

/** Begins a count in place of any other. Returns undefined if the change is not held any more. */
async function beginCount(
  { holds, rules, runtime }: ChangeDescriberDeps,
  { id }: Connection,
  { generation, lookups }: RulesSnapshot,
): Promise<Count | undefined> {
  const followed = await rules.findFollowed(id);
  const versions = await rules.listMappings(id, Number.MAX_SAFE_INTEGER);
  const count: Count = {
    ...{ generation, id: runtime.newId(), looked: 0, after: '' },
    causes: describeCauses({ followed, generation, lookups, versions }),
    counter: effectCounter([...(followed ? [followed.lookups] : []), lookups]),
  };
  const isSaved = await holds.saveEffect(id, generation, toEffect(count, false), { isFirst: true });
  return isSaved ? count : undefined;
}

function toEffect({ id, looked, causes, counter }: Count, isComplete: boolean): RulesEffect {
  return { count: id, looked, isComplete, causes, ...counter.total() };
}

interface RunningCount {
  connection: Connection;
  snapshot: RulesSnapshot;
  count: Count;
  signal: AbortSignal;
}

/** `over`: everybody was looked at, or the result is not wanted any more. */
async function goOn(
  deps: ChangeDescriberDeps,
  { connection, snapshot, count, signal }: RunningCount,
): Promise<'stopped' | 'over'> {
  const { holds, runtime } = deps;
  const { generation } = snapshot;
  const save = (isComplete: boolean) =>
    holds.saveEffect(connection.id, generation, toEffect(count, isComplete));
  const yieldIfDue = yieldBetweenBatches(runtime.now);
  for (let savedAt = runtime.now(); ; ) {
    const place = { after: count.after, limit: BATCH };
    const people = await holds.findTranslatedEarlier(connection.id, generation, place);
    for (const identity of people) {
      const changes = await countedChanges(deps, connection, { identity, snapshot });
      if (changes.length > 0) count.counter.add({ id: identity.id, userName: userNameOf(identity) }, changes);
      count.looked += 1;
      count.after = identity.id;
      await yieldIfDue();
    }
    if (people.length < BATCH) {
      await save(true);
      return 'over';
    }
    if (signal.aborted) return (await save(false)) ? 'stopped' : 'over';
    if (runtime.now() - savedAt < SAVE_MS) continue;
    if (!(await save(false))) return 'over';
    savedAt = runtime.now();
  }
}
