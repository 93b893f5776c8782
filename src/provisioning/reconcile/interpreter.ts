import type { Holds } from '../../store/queues/holds.ts';
import type { Connection } from '../connection.ts';
import type { Outcome } from '../identity.ts';
import { withoutCycles } from '../manager-chains.ts';
import type { RulesChanges } from '../rules/rules-change.ts';
import type { RulesSnapshots } from '../rules/rules-snapshot.ts';
import type { Runtime } from '../runtime-ports.ts';
import type {
  Identities,
  LeasedOutcome,
  LeaseRequest,
  Leases,
  ReconcileQueue,
  References,
} from '../store-ports.ts';
import type { TravelAnswer } from '../travel-ports.ts';
import { canBeCommitted, type PendingWrite, type WriteCommit } from './commit.ts';
import type { AttemptTime } from './context.ts';
import { carriedOutBy, type Effect, type Handlers } from './effects.ts';
import { leaseEnded, leaseGuard } from './lease.ts';

/** The store, the rules and the surroundings in which effects are carried out. */
export interface InterpreterDeps {
  identities: Identities;
  leases: Leases;
  references: References;
  holds: Pick<Holds, 'admitDeparture'>;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty'>;
  rulesSnapshots: Pick<RulesSnapshots, 'current' | 'refresh'>;
  rulesChanges: Pick<RulesChanges, 'mayReconcile'>;
  /** Wakes the background loop that reconciles dirty identities. */
  wake(): void;
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId' | 'checkpoint'>;
}

/** The attempt whose effects are carried out. */
export interface RunningAttempt {
  connection: Connection;
  id: string;
  lease: LeaseRequest;
  /** The SCIM request that causes the attempt, for the log of exchanges. */
  requestId: string | undefined;
  /** The write that the attempt begins with, and its commit; undefined if the identity is committed and leased. */
  begins: { write: PendingWrite; commit: WriteCommit } | undefined;
}

/** Carries out the effects of one attempt. */
export interface Interpreter {
  carryOut(effect: Effect): Promise<unknown>;
  time: AttemptTime;
  /** The email addresses of the creates that have been announced. */
  announcedEmails: string[];
  /** Saves the outcome of the attempt and ends its lease. */
  finish(before: LeasedOutcome['before'], outcome: Outcome): ReturnType<Leases['finish']>;
}

/**
 * Creates the interpreter of an attempt. It alone knows that
 * - the write of the IdP is committed before the first effect that anybody else can see, and that this commit contains the announcement
 *   of the first call, or the outcome of an attempt without a call;
 * - a call is sent only while the lease lasts until its deadline, and names its cause;
 * - the process may end before and after each call that changes a traveler.
 */
export function interpreter(deps: InterpreterDeps, attempt: RunningAttempt): Interpreter {
  const { now, wallClock } = deps.runtime;
  const { connection, id, lease, begins } = attempt;
  const { token } = lease;
  const readTime = () => ({ now: now(), wallClock: wallClock(), server: connection.travel.serverTime() });
  const time = readTime();
  const announcedEmails: string[] = [];
  const carryOut = carriedOutBy({
    ...storeReads(deps, attempt),
    ...ruleReads(deps, attempt),
    ...calls(deps, attempt),
    ...storeWrites(deps, attempt),
    announce: async (announcement) => {
      const isPart = begins && !begins.commit.isBegun() && canBeCommitted(begins.write, announcement);
      await begins?.commit.run(isPart ? { announcement } : undefined);
      const result = isPart ? 'done' : await deps.leases.announce(connection.id, id, token, announcement);
      if (result === 'done' && 'creating' in announcement && announcement.creating)
        announcedEmails.push(announcement.creating);
      return result;
    },
    newId: deps.runtime.newId,
  });
  return {
    time,
    announcedEmails,
    carryOut: async (effect) => {
      const result = await carryOut(effect);
      Object.assign(time, readTime());
      return result;
    },
    finish: async (before, outcome) => {
      const isPart = begins && !begins.commit.isBegun();
      await begins?.commit.run(isPart ? { ended: { token, before, outcome } } : undefined);
      return isPart ? 'kept' : deps.leases.finish(connection.id, id, token, before, outcome);
    },
  };
}

/** The reads of the store need no commit: nobody else sees them. */
function storeReads(
  { identities, references, rulesChanges }: InterpreterDeps,
  { connection, id }: RunningAttempt,
): Partial<Handlers> {
  const { account } = connection;
  return {
    findIdentity: identities.findById,
    findIdentities: identities.find,
    findHolder: (match) => identities.findHolder(account, match),
    findWaiters: (email) => identities.findWaiters(account, email),
    isWaitedFor: (email) => identities.isWaitedFor(account, email, id),
    findByEmployeeNumber: (number) => identities.findByEmployeeNumber(account, number),
    isErased: (travelId) => identities.isErased(account, travelId),
    findReferrers: (values) => references.findReferrers(connection.id, id, values),
    findReferences: () => references.findRows(connection.id, id),
    mayApplyRules: (rulesSnapshot) => rulesChanges.mayReconcile(connection, rulesSnapshot),
  };
}

/** The rules and lookups. They come from memory mostly; otherwise the write is committed before the travel API is asked. */
function ruleReads(
  { rulesSnapshots }: InterpreterDeps,
  { connection, begins }: RunningAttempt,
): Partial<Handlers> {
  const { lookups } = connection;
  const commitUnlessCached = async () => {
    if (!lookups.areCached()) await begins?.commit.run();
  };
  return {
    readRules: async (generation) => {
      await commitUnlessCached();
      return rulesSnapshots.current(connection, generation);
    },
    readOwnUser: async () => {
      await commitUnlessCached();
      return lookups.readOwnUser();
    },
    refreshRules: async () => {
      await begins?.commit.run();
      return rulesSnapshots.refresh(connection);
    },
    refreshLookups: async () => {
      await begins?.commit.run();
      lookups.expire();
      return lookups.refresh();
    },
  };
}

/** The calls about travelers: the write is committed before, and the lease lasts until the deadline of the call. */
function calls(
  { leases, runtime: { now, checkpoint } }: InterpreterDeps,
  { connection, id, lease: { token, now: since }, requestId, begins }: RunningAttempt,
): Partial<Handlers> {
  const { travel, callTimeoutMs } = connection;
  const cause = { person: id, requestId };
  const extend = (ms: number) => leases.extend(connection.id, id, { token, ms, now: now() });
  const isLeased = leaseGuard({ since, callTimeoutMs, now, extend });
  const call = async <T>(send: () => Promise<TravelAnswer<T>>) => {
    await begins?.commit.run();
    return (await isLeased()) ? send() : leaseEnded;
  };
  const changingCall = <T>(send: () => Promise<TravelAnswer<T>>) =>
    call(async () => {
      checkpoint('beforeSend');
      const answer = await send();
      checkpoint('afterSend');
      return answer;
    });
  return {
    findTravelers: (emails) => call(() => travel.findByEmails(emails, undefined, cause)),
    readTraveler: (travelId) => call(() => travel.read(travelId, cause)),
    createTraveler: (traveler, key) => changingCall(() => travel.create(traveler, key, cause)),
    patchTraveler: (travelId, change) => changingCall(() => travel.patch(travelId, change, cause)),
    removeTraveler: (travelId) => changingCall(() => travel.remove(travelId, cause)),
  };
}

/** The other writes of the store: the write of the IdP is committed before. */
function storeWrites(
  { identities, leases, references, holds, reconcileQueue, wake, runtime: { now } }: InterpreterDeps,
  { connection, id, lease: { token }, begins }: RunningAttempt,
): Partial<Handlers> {
  const afterCommit = async <T>(write: () => Promise<T>) => {
    await begins?.commit.run();
    return write();
  };
  return {
    waitForEmail: (email) => afterCommit(() => leases.waitFor(connection.id, id, token, email)),
    admitDeparture: (valve) => afterCommit(() => holds.admitDeparture(connection.id, id, valve, now())),
    noteSuccessor: (note) =>
      afterCommit(async () => {
        await identities.commit(note.connection, [note]);
      }),
    markDirty: (other) =>
      afterCommit(async () => {
        await reconcileQueue.markDirty(other.connection, [other.id], now());
        wake();
      }),
    saveReferences: (rows) => afterCommit(() => references.save(connection.id, id, rows)),
    linkReferences: (found) =>
      afterCommit(() =>
        references.update(connection.id, id, (readRows) => withoutCycles(readRows, id, found)),
      ),
  };
}
