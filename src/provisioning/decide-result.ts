import type { Connection } from './connection.ts';
import { findings } from './findings.ts';
import type { ForeignValues } from './foreign-values.ts';
import { isHeldByRulesChange, withRulesHold } from './guard.ts';
import type { Holds } from './hold-ports.ts';
import type { Identity } from './identity.ts';
import type { ConnectionModes } from './mode-ports.ts';
import { isReferredTo } from './notify-dependents.ts';
import { reconcileInPause, reconcileStated } from './pause.ts';
import {
  endInFailure,
  endInState,
  newDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
} from './reconcile-context.ts';
import { reconcileTraveler } from './reconcile-traveler.ts';
import type { RulesChanges } from './rules-change.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Identities, Leases, ReconcileQueue, References } from './store-ports.ts';
import type { TranslatedIdentity } from './translate-identity.ts';
import type { TravelFailure } from './travel-ports.ts';

/** Dependencies of an attempt that holds the lease. */
export interface DecisionDeps {
  identities: Pick<
    Identities,
    | 'findById'
    | 'find'
    | 'findHolder'
    | 'commit'
    | 'isErased'
    | 'isWaitedFor'
    | 'findWaiters'
    | 'findByEmployeeNumber'
  >;
  leases: Pick<Leases, 'announce' | 'waitFor'>;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty'>;
  references: Pick<References, 'findReferrers'>;
  holds: Pick<Holds, 'admitDeparture'>;
  rulesChanges: Pick<RulesChanges, 'mayReconcile'>;
  modes: Pick<ConnectionModes, 'pausedAt'>;
  foreignValues?: Pick<ForeignValues, 'observe'> | undefined;
  /** Wakes the background loop that reconciles dirty identities. */
  wake(): void;
  runtime: Runtime;
}

/** An identity under its lease, which has this token. */
export interface AttemptedIdentity {
  identity: Identity;
  token: string;
  /** An address that no identity of the account had when this attempt began. */
  freeEmail?: string | undefined;
}

/** The result of an attempt under the rules in force. */
interface Decision {
  result: ReconcileResult;
  /** The generation of the rules that the result follows. */
  rulesGeneration: number;
  /** The email addresses of all creates that this or an earlier attempt has announced. */
  announced: string[];
}

/** Reconciles the traveler, unless the rules cannot be read or the change of rules waits for an admin. */
export async function decideResult(
  deps: DecisionDeps,
  connection: Connection,
  { leased, translated }: { leased: AttemptedIdentity; translated: TranslatedIdentity | TravelFailure },
): Promise<Decision> {
  const { identity } = leased;
  if ('kind' in translated) {
    const untranslated = newDraft(identity, {
      fields: {},
      findings: identity.findings,
      trace: identity.trace,
      needsFreshLookups: false,
    });
    return {
      result: endInFailure(untranslated, translated),
      rulesGeneration: identity.rulesGeneration,
      announced: [],
    };
  }
  const announced = identity.creating === undefined ? [] : [identity.creating];
  const context = newContext(deps, connection, { leased, translated, announced });
  if (
    await isHeldByRulesChange(deps.rulesChanges, connection, {
      identity,
      rulesSnapshot: translated.rulesSnapshot,
    })
  ) {
    const draft = withFinding(newDraft(identity, translated.translation), findings.heldRules());
    const waiting = { ...draft, waitingFor: identity.waitingFor };
    return {
      result: endInState(withRulesHold(context, waiting), 'held'),
      rulesGeneration: identity.rulesGeneration,
      announced: [],
    };
  }
  const pausedAt = deps.modes.pausedAt(connection.id);
  if (pausedAt === undefined) deps.foreignValues?.observe(identity);
  const result = await (pausedAt === undefined
    ? reconcileStated(context, reconcileTraveler)
    : reconcileInPause(context, pausedAt, reconcileTraveler));
  return { result, rulesGeneration: translated.rulesSnapshot.generation, announced };
}

function newContext(
  deps: DecisionDeps,
  connection: Connection,
  {
    leased: { identity, token, freeEmail },
    translated: { rulesSnapshot, translation, baseline },
    announced,
  }: { leased: AttemptedIdentity; translated: TranslatedIdentity; announced: string[] },
): ReconcileContext {
  const { identities, leases, holds, runtime } = deps;
  return {
    announce: async (announcement) => {
      const outcome = await leases.announce(connection.id, identity.id, token, announcement);
      if (outcome === 'done' && 'creating' in announcement && announcement.creating)
        announced.push(announcement.creating);
      return outcome;
    },
    saveEmailWait: (email) => leases.waitFor(connection.id, identity.id, token, email),
    enqueue: async (other) => {
      await deps.reconcileQueue.markDirty(other.connection, [other.id], runtime.now());
      deps.wake();
    },
    isReferredTo: (options) => isReferredTo(deps, identity, options),
    now: runtime.now,
    wallClock: runtime.wallClock,
    newId: runtime.newId,
    checkpoint: runtime.checkpoint,
    ...{ connection, identity, rulesSnapshot, translation, baseline, identities, holds, freeEmail },
  };
}
