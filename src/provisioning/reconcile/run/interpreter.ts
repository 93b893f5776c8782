import type { Holds } from '../../../store/queues/holds.ts';
import type { TravelUser } from '../../../translator/traveler.ts';
import { type CircuitBreaker, sendRecorded } from '../../circuit-breaker.ts';
import type { Connection } from '../../connection.ts';
import type { Memberships } from '../../groups/group-ports.ts';
import type { Outcome } from '../../identity.ts';
import { withoutCycles } from '../../manager-chains.ts';
import type { RulesSnapshots } from '../../rules/rules-snapshots.ts';
import type { Runtime } from '../../runtime-ports.ts';
import type {
  Identities,
  LeasedOutcome,
  LeaseRequest,
  Leases,
  ReconcileQueue,
  References,
} from '../../store-ports.ts';
import type { TravelAnswer } from '../../travel-ports.ts';
import type { OwnUsers } from '../../users/own-users.ts';
import type { AttemptTime } from '../context.ts';
import { carriedOutBy, type Effect, type Handlers } from '../effects.ts';
import { canBeCommitted, type PendingWrite, type WriteCommit } from './commit.ts';
import { leaseDuration, leaseEnded, leaseGuard } from './lease.ts';
import { storeReads } from './store-reads.ts';

/** The store, the rules and the surroundings in which effects are carried out. */
export interface InterpreterDeps {
  identities: Identities;
  leases: Leases;
  references: References;
  memberships: Pick<Memberships, 'findOf' | 'findUnknownNames'>;
  holds: Pick<Holds, 'admitDeparture'>;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty' | 'askForEmail'>;
  rulesSnapshots: Pick<RulesSnapshots, 'current' | 'refresh'>;
  circuitBreakerOf(connection: Connection): CircuitBreaker;
  ownUsers: Pick<OwnUsers, 'read'>;
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
  /** The write that this attempt commits before its first effect; undefined if the identity is committed and leased already. */
  pending: { write: PendingWrite; commit: WriteCommit } | undefined;
}

/** Carries out the effects of one attempt. */
export interface Interpreter {
  carryOut(effect: Effect): Promise<unknown>;
  time: AttemptTime;
  /** The email addresses of the creates that have been announced. */
  announcedEmails: string[];
  /** Returns the email addresses with which a traveler was read. */
  emailsRead(travelId: string | undefined): string[];
  /** Saves the outcome of the attempt and ends its lease. */
  finish(before: LeasedOutcome['before'], outcome: Outcome): ReturnType<Leases['finish']>;
}

/**
 * Creates the interpreter of an attempt. It alone knows that
 * - the write of the IdP is committed before the first effect that anybody else can see, and that this commit contains the announcement
 *   of the first call, or the outcome of an attempt without a call;
 * - a call is sent only while the lease lasts until its deadline, names its cause, and tells the circuit breaker its result;
 * - tests end the process before and after each call that changes a traveler (`Checkpoint`).
 *
 * An attempt at a pending write commits it in one of three ways: with the announcement of its first call (`announce`), with its outcome
 * if it makes no call (`finish`), or alone before any other effect. The first of them decides; `commitFirst` does nothing afterwards.
 */
export function interpreter(deps: InterpreterDeps, attempt: RunningAttempt): Interpreter {
  const { now, wallClock } = deps.runtime;
  const { connection, id, pending } = attempt;
  const { token } = attempt.lease;
  const readTime = () => ({ now: now(), wallClock: wallClock(), server: connection.travel.serverTime() });
  const time = readTime();
  const announcedEmails: string[] = [];
  const travelersRead: TravelUser[] = [];
  const commitFirst: CommitFirst = async (first) => pending?.commit.run(first);
  const carryOut = carriedOutBy({
    ...storeReads(deps, connection.account, { connection: connection.id, id }),
    ...ruleReads(deps, attempt, commitFirst),
    ...calls(deps, attempt, { commitFirst, onRead: (...travelers) => travelersRead.push(...travelers) }),
    ...storeWrites(deps, attempt, commitFirst),
    announce: async (announcement) => {
      const callEndsBy = now() + leaseDuration(connection);
      const isInCommit = pending && !pending.commit.isBegun() && canBeCommitted(pending.write, announcement);
      await commitFirst(isInCommit ? { announcement } : undefined);
      const result = isInCommit ? 'done' : await deps.leases.announce(connection.id, id, token, announcement);
      if (result === 'done' && announcement.creating) announcedEmails.push(announcement.creating.email);
      // The call begins after the commit, which takes some time.
      const isTooLate = announcement.isCall && now() + connection.callTimeoutMs > callEndsBy;
      return result === 'done' && isTooLate ? 'lost' : result;
    },
    findReferrers: (values) => deps.references.findReferrers(connection.id, id, values),
    newId: deps.runtime.newId,
  });
  return {
    ...{ time, announcedEmails },
    emailsRead: (travelId) => travelersRead.filter(({ id }) => id === travelId).map(({ email }) => email),
    carryOut: async (effect) => {
      const result = await carryOut(effect);
      Object.assign(time, readTime());
      return result;
    },
    finish: async (before, outcome) => {
      const isInCommit = pending && !pending.commit.isBegun();
      await commitFirst(isInCommit ? { ended: { token, before, outcome } } : undefined);
      return isInCommit ? 'kept' : deps.leases.finish(connection.id, id, token, before, outcome);
    },
  };
}

/** Commits the pending write, unless that has been done or there is none. */
type CommitFirst = WriteCommit['run'];

/** The rules and lookups. They come from memory mostly; otherwise the write is committed before the travel API is asked. */
function ruleReads(
  { rulesSnapshots, ownUsers }: InterpreterDeps,
  { connection }: RunningAttempt,
  commitFirst: CommitFirst,
): Partial<Handlers> {
  const { lookups } = connection;
  const commitUnlessCached = async () => {
    if (!lookups.areCached()) await commitFirst();
  };
  return {
    readRules: async (generation) => {
      await commitUnlessCached();
      return rulesSnapshots.current(connection, generation);
    },
    readOwnUser: async () => {
      await commitUnlessCached();
      return ownUsers.read(connection);
    },
    refreshRules: async () => {
      await commitFirst();
      return rulesSnapshots.refresh(connection);
    },
    refreshLookups: async () => {
      await commitFirst();
      lookups.expire();
      return lookups.refresh();
    },
  };
}

/**
 * The calls about travelers: the write is committed before, the lease lasts until the deadline of the call, and the circuit breaker learns of
 * the result. Who begins an attempt has asked the breaker.
 */
function calls(
  { leases, circuitBreakerOf, runtime: { now, checkpoint } }: InterpreterDeps,
  { connection, id, lease: { token, now: since }, requestId }: RunningAttempt,
  { commitFirst, onRead }: { commitFirst: CommitFirst; onRead(...travelers: TravelUser[]): void },
): Partial<Handlers> {
  const { travel, callTimeoutMs } = connection;
  const cause = { person: id, requestId };
  const extend = (ms: number) => leases.extend(connection.id, id, { token, ms, now: now() });
  const isLeased = leaseGuard({ since, callTimeoutMs, now, extend });
  const breaking = { breaker: circuitBreakerOf(connection), now };
  const call = async <T>(subject: unknown, send: () => Promise<TravelAnswer<T>>) => {
    await commitFirst();
    return (await isLeased()) ? sendRecorded(breaking, subject, send) : leaseEnded;
  };
  const changingCall = <T>(subject: unknown, send: () => Promise<TravelAnswer<T>>) =>
    call(subject, async () => {
      checkpoint('beforeSend');
      const answer = await send();
      checkpoint('afterAnswer');
      return answer;
    });
  return {
    findTravelers: async (emails) => {
      const found = await call(emails[0], () => travel.findByEmails(emails, undefined, cause));
      if (found.kind === 'ok') onRead(...found.value);
      return found;
    },
    readTraveler: async (travelId) => {
      const read = await call(travelId, () => travel.read(travelId, cause));
      if (read.kind === 'ok') onRead(read.value);
      return read;
    },
    createTraveler: (traveler, key) =>
      changingCall(traveler.email, () => travel.create(traveler, key, cause)),
    patchTraveler: (travelId, change) => changingCall(travelId, () => travel.patch(travelId, change, cause)),
    removeTraveler: (travelId) => changingCall(travelId, () => travel.remove(travelId, cause)),
  };
}

/** The other writes of the store: the write of the IdP is committed before. */
function storeWrites(
  deps: InterpreterDeps,
  { connection, id, lease: { token } }: RunningAttempt,
  commitFirst: CommitFirst,
): Partial<Handlers> {
  const { identities, leases, references, holds, runtime } = deps;
  const { now } = runtime;
  const afterCommit = async <T>(write: () => Promise<T>) => {
    await commitFirst();
    return write();
  };
  return {
    waitForEmail: (email) => afterCommit(() => leases.waitFor(connection.id, id, token, email)),
    admitDeparture: (valve) => afterCommit(() => holds.admitDeparture(connection.id, id, valve, now())),
    noteSuccessor: (note) =>
      afterCommit(async () => {
        await identities.commit(note.connection, [note]);
      }),
    askForEmail: (holder, email) =>
      afterCommit(async () => {
        await deps.reconcileQueue.askForEmail(holder, email, now());
        deps.wake();
      }),
    saveReferences: (rows) => afterCommit(() => references.save(connection.id, id, rows)),
    linkReferences: (found) =>
      afterCommit(() =>
        references.update(connection.id, id, (readRows) => withoutCycles(readRows, id, found)),
      ),
  };
}
