import type { Connection } from '../../../model/connection.ts';
import type { Memberships } from '../../../model/group-ports.ts';
import type { Runtime } from '../../../model/runtime-ports.ts';
import type {
  Announcement,
  Identities,
  LeaseRequest,
  Leases,
  ReconcileQueue,
  References,
} from '../../../model/store-ports.ts';
import type { TravelAnswer } from '../../../model/travel-ports.ts';
import type { TravelUser } from '../../../model/traveler.ts';
import type { Holds } from '../../../store/queues/holds.ts';
import { type CircuitBreaker, sendRecorded } from '../../calls/circuit-breaker.ts';
import { leaseDuration, leaseEnded, leaseGuard } from '../../calls/lease.ts';
import type { OwnUsers } from '../../calls/own-users.ts';
import type { RulesSnapshots } from '../../rules/rules-snapshots.ts';
import type { AttemptTime } from '../context.ts';
import { carriedOutBy, type Effect, type Handlers } from '../effects.ts';
import { withoutCycles } from '../wanted/manager-chains.ts';
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
}

/** Carries out the effects of one attempt. */
export interface Interpreter {
  carryOut(effect: Effect): Promise<unknown>;
  /** True for an effect that nobody else sees: a read of the store, and of what is kept of the rules and lookups. */
  isUnseen(effect: Effect): boolean;
  /** The result of an announcement that has been committed: `lost` if its call would begin too late. */
  announced(announcement: Announcement): 'done' | 'lost';
  time: AttemptTime;
  /** The email addresses of the creates that have been announced. */
  announcedEmails: string[];
  /** Returns the email addresses with which a traveler was read. */
  emailsRead(travelId: string | undefined): string[];
}

/**
 * Creates the interpreter of an attempt. It alone knows that
 * - a call is sent only while the lease lasts until its deadline, names its cause, and tells the circuit breaker its result;
 * - tests end the process before and after each call that changes a traveler (`Checkpoint`).
 */
export function interpreter(deps: InterpreterDeps, attempt: RunningAttempt): Interpreter {
  const { now, wallClock, newId } = deps.runtime;
  const { connection, id, lease } = attempt;
  const readTime = () => ({ now: now(), wallClock: wallClock(), server: connection.travel.serverTime() });
  const time = readTime();
  const announcedEmails: string[] = [];
  const travelersRead: TravelUser[] = [];
  const announced: Interpreter['announced'] = ({ creating, isCall }) => {
    if (creating) announcedEmails.push(creating.email);
    // The call begins after the commit, which takes some time. `time` is that of the announcement.
    const isTooLate = isCall && now() + connection.callTimeoutMs > time.now + leaseDuration(connection);
    Object.assign(time, readTime());
    return isTooLate ? 'lost' : 'done';
  };
  const unseen: Partial<Handlers> = {
    ...storeReads(deps, connection.account, { connection: connection.id, id }),
    findReferrers: (values) => deps.references.findReferrers(connection.id, id, values),
    newId,
  };
  const carryOut = carriedOutBy({
    ...unseen,
    ...ruleReads(deps, attempt),
    ...calls(deps, attempt, (...travelers) => travelersRead.push(...travelers)),
    ...storeWrites(deps, attempt),
    announce: async (announcement) => {
      const result = await deps.leases.announce(connection.id, id, lease.token, announcement);
      return result === 'done' ? announced(announcement) : result;
    },
  });
  return {
    ...{ time, announced, announcedEmails },
    emailsRead: (travelId) => travelersRead.filter(({ id }) => id === travelId).map(({ email }) => email),
    carryOut: async (effect) => {
      const result = await carryOut(effect);
      Object.assign(time, readTime());
      return result;
    },
    isUnseen: ({ kind }) =>
      kind in unseen || ((kind === 'readRules' || kind === 'readOwnUser') && connection.lookups.areCached()),
  };
}

/** The rules and lookups. They come from memory mostly. */
function ruleReads(
  { rulesSnapshots, ownUsers }: InterpreterDeps,
  { connection }: RunningAttempt,
): Partial<Handlers> {
  const { lookups } = connection;
  return {
    readRules: (generation) => rulesSnapshots.current(connection, generation),
    readOwnUser: () => ownUsers.read(connection),
    refreshRules: () => rulesSnapshots.refresh(connection),
    refreshLookups: () => {
      lookups.expire();
      return lookups.refresh();
    },
  };
}

/**
 * The calls about travelers: the lease lasts until the deadline of the call, and the circuit breaker learns of the result. Who begins an
 * attempt has asked the breaker.
 */
function calls(
  { leases, circuitBreakerOf, runtime: { now, checkpoint } }: InterpreterDeps,
  { connection, id, lease: { token, now: since }, requestId }: RunningAttempt,
  onRead: (...travelers: TravelUser[]) => void,
): Partial<Handlers> {
  const { travel, callTimeoutMs } = connection;
  const cause = { person: id, requestId };
  const extend = (ms: number) => leases.extend(connection.id, id, { token, ms, now: now() });
  const isLeased = leaseGuard({ since, callTimeoutMs, now, extend });
  const breaking = { breaker: circuitBreakerOf(connection), now };
  const call = async <T>(subject: unknown, send: () => Promise<TravelAnswer<T>>) =>
    (await isLeased()) ? sendRecorded(breaking, subject, send) : leaseEnded;
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

/** The other writes of the store. */
function storeWrites(
  deps: InterpreterDeps,
  { connection, id, lease: { token } }: RunningAttempt,
): Partial<Handlers> {
  const { identities, leases, references, holds, runtime } = deps;
  const { now } = runtime;
  return {
    waitForEmail: (email) => leases.waitFor(connection.id, id, token, email),
    admitDeparture: (valve) => holds.admitDeparture(connection.id, id, valve, now()),
    noteSuccessor: async (note) => {
      await identities.commit(note.connection, [note]);
    },
    askForEmail: async (holder, email) => {
      await deps.reconcileQueue.askForEmail(holder, email, now());
      deps.wake();
    },
    saveReferences: (rows) => references.save(connection.id, id, rows),
    linkReferences: (found) =>
      references.update(connection.id, id, (readRows) => withoutCycles(readRows, id, found)),
  };
}
