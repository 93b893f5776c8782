import type { Connection } from '../../src/model/connection.ts';
import type { Lookups } from '../../src/model/translation.ts';
import type {
  TravelAnswer,
  TravelFailure,
  TravelLookups,
  TravelUsers,
} from '../../src/model/travel-ports.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import { type FakeFeed, fakeFeed } from '../fixtures/fake-feed.ts';
import { type FakeTravel, fakeTravel } from '../fixtures/fake-travel.ts';
import type { Random } from '../fixtures/seeded.ts';
import { type Fault, failures } from './faults.ts';
import { type ProfileName, profileUsers } from './profile-travel.ts';
import type { Story } from './story.ts';
import type { VirtualTime } from './virtual-time.ts';

/** How this travel API differs from a plain one. */
export interface TravelHabits {
  /** It stores phone numbers without spaces. */
  isPhoneCompact: boolean;
  /** It stores addresses in lower case. */
  isEmailLower: boolean;
  /** Its answers name the time. */
  hasDate: boolean;
  /** It has the form of a profile, and is called by the adapter; or it is called by the ports of provisioning. */
  profile: 'ports' | ProfileName;
}

/** The travel service of a history: one for all connections of an account. */
export interface SimulatedTravel {
  fake: FakeTravel;
  feed: FakeFeed;
  /** The faults of the next calls about travelers, in order; undefined lets a call pass. */
  faults: (Fault | undefined)[];
  /** The number of changes that the bridge has made. */
  writes(): number;
  /** The number of all calls about travelers. */
  calls(): number;
  /** The number of changes of travelers by hand. Without a feed, only an import shows them. */
  handChanges(): number;
  users: TravelUsers;
  /** Returns lookups with a cache, as each process has its own. */
  newLookups(): TravelLookups;
  /** Changes a traveler by hand. */
  edit(id: string, change: (traveler: TravelUser) => TravelUser): void;
  add(traveler: Partial<TravelUser> & { email: string }): TravelUser | undefined;
  remove(id: string): void;
  setLookups(lookups: Lookups): void;
  /** True while a call is still to be carried out late. */
  areCallsOpen(): boolean;
}

/** The time in which the lookups count as recent, in milliseconds. */
const CACHE_MS = 60_000;

interface Deps {
  time: VirtualTime;
  random: Random;
  story: Story;
  habits: TravelHabits;
  connection: Pick<Connection, 'callTimeoutMs' | 'lateMs'>;
  /** Called for each write of the bridge that was carried out, with the traveler before and after it. */
  onWrite(before: TravelUser | undefined, after: TravelUser | undefined): void;
  /** Called for each call that gets no answer, with its text, which names the traveler. */
  onUnanswered(text: string): void;
}

/** Creates the travel service. A call takes some time, and may have a fault. */
export function simulatedTravel(deps: Deps): SimulatedTravel {
  const { time, random, habits } = deps;
  const onWrite: Deps['onWrite'] = (before, after) => {
    writes += 1;
    deps.onWrite(before, after);
  };
  const fake = fakeTravel(habits.hasDate ? time.now : undefined);
  const feed = fakeFeed();
  const faults: SimulatedTravel['faults'] = [];
  let handChanges = 0;
  let writes = 0;
  const { call, counts } = newCalls(deps, fake, faults);
  const store = (traveler: TravelUser) => {
    const stored = withHabits(traveler, habits);
    fake.travelers.set(traveler.id, stored);
    return stored;
  };
  const keep = (kind: string, traveler: TravelUser, before?: TravelUser) => {
    const stored = store(traveler);
    onWrite(before, stored);
    feed.addEvent(kind, stored, before?.email);
    return stored;
  };
  const forget = (traveler: TravelUser) => {
    fake.travelers.delete(traveler.id);
    feed.addEvent('user.deleted', traveler);
  };
  const forgetForBridge = (traveler: TravelUser) => {
    onWrite(traveler, undefined);
    forget(traveler);
  };
  const changed = async (
    kind: string,
    carryOut: () => Promise<TravelAnswer<TravelUser>>,
    before?: TravelUser,
  ) => {
    const answer = await carryOut();
    return answer.kind === 'ok' ? { kind: 'ok' as const, value: keep(kind, answer.value, before) } : answer;
  };
  const removeTraveler = async (id: string) => {
    const traveler = fake.travelers.get(id);
    const answer = await fake.users.remove(id);
    if (traveler && answer.kind === 'ok') forgetForBridge(traveler);
    return answer;
  };
  const serverTime = () => (habits.hasDate ? time.now() - (time.now() % 1_000) : undefined);
  const ports: TravelUsers = {
    create: (body, key) => {
      const create = () => changed('user.created', () => fake.users.create(body, key));
      return call(`create ${JSON.stringify(body)}`, create, true);
    },
    read: (id) => call(`read ${id}`, () => fake.users.read(id), false),
    patch: (id, body) => {
      const patch = () => changed('user.updated', () => fake.users.patch(id, body), fake.travelers.get(id));
      return call(`patch ${id} ${JSON.stringify(body)}`, patch, true);
    },
    remove: (id) => call(`remove ${id}`, () => removeTraveler(id), true),
    findByEmails: (emails) => call(`find ${emails}`, () => fake.users.findByEmails(emails), false),
    readPage: (offset, limit) => call('page', () => fake.users.readPage(offset, limit), false),
    serverTime,
  };
  const { callTimeoutMs: timeoutMs } = deps.connection;
  const parts = { fake, time, timeoutMs, serverTime, call, keep, remove: forgetForBridge };
  return {
    ...{ fake, feed, faults, ...counts, writes: () => writes, handChanges: () => handChanges },
    users: habits.profile === 'ports' ? ports : profileUsers(habits.profile, parts),
    newLookups: () => cachedLookups(fake, time, random),
    edit: (id, change) => {
      const traveler = fake.travelers.get(id);
      if (!traveler) return;
      handChanges += 1;
      feed.addEvent('user.updated', store(change(traveler)), traveler.email);
    },
    add: (traveler) => {
      const isTaken = [...fake.travelers.values()].some(
        ({ email }) => email.toLowerCase() === traveler.email.toLowerCase(),
      );
      if (isTaken) return undefined;
      handChanges += 1;
      const added = fake.addTraveler(traveler);
      feed.addEvent('user.created', added);
      return added;
    },
    remove: (id) => {
      const traveler = fake.travelers.get(id);
      if (!traveler) return;
      handChanges += 1;
      forget(traveler);
    },
    setLookups: (lookups) => {
      fake.lookupData = lookups;
      feed.addEvent('costCenter.updated');
    },
  };
}

/** The calls about travelers: each takes some time, and has the next fault. */
function newCalls(
  { time, random, story, connection, onUnanswered }: Deps,
  fake: FakeTravel,
  faults: SimulatedTravel['faults'],
) {
  const { callTimeoutMs: timeoutMs, lateMs } = connection;
  const unanswered: TravelFailure = { kind: 'unavailable', text: 'no answer came', isUnanswered: true };
  let calls = 0;
  let open = 0;
  const carryOutAfter = async <T>(ms: number, carryOut: () => Promise<T>) => {
    open += 1;
    await time.wait(random.below(ms));
    const answer = await carryOut();
    open -= 1;
    return answer;
  };
  const call = async <T>(text: string, carryOut: () => Promise<TravelAnswer<T>>, isWrite: boolean) => {
    const fault = faults.shift();
    calls += 1;
    if (isWrite || fault) story.tell(`  call: ${text}${fault ? `  ✗ ${fault}` : ''}`);
    await time.wait(2 + random.below(60));
    if (isWrite && fault) onUnanswered(text);
    switch (fault) {
      case undefined:
        return carryOut();
      case 'slow':
        return carryOutAfter(timeoutMs - 100, carryOut);
      case 'lost':
        await carryOut();
        return unanswered;
      case 'hang':
        await time.wait(timeoutMs);
        return unanswered;
      case 'late':
        void carryOutAfter(timeoutMs + lateMs - 2_000, () => {
          story.tell(`  carried out late: ${text}`);
          return carryOut();
        });
        await time.wait(timeoutMs);
        return unanswered;
      case 'twice':
        await carryOut();
        return carryOut();
      case 'noEffect':
        return withoutEffect<T>(text, fake) ?? carryOut();
      default:
        return failures[fault];
    }
  };
  return { call, counts: { calls: () => calls, areCallsOpen: () => open > 0 } };
}

/**
 * The answer to an archive or its opposite alone that is accepted and does nothing; undefined for any other call. Of other fields, the bridge
 * takes the answer for the way in which the travel API spells the value.
 */
function withoutEffect<T>(text: string, fake: FakeTravel): TravelAnswer<T> | undefined {
  const [, id = ''] = /^patch (\S+) {"archived":\w+}$/.exec(text) ?? [];
  const traveler = fake.travelers.get(id);
  return traveler && { kind: 'ok', value: structuredClone(traveler) as T }; // The answer of a PATCH is a traveler.
}

function withHabits(traveler: TravelUser, { isPhoneCompact, isEmailLower }: TravelHabits): TravelUser {
  const { phoneNumber, email } = traveler;
  return {
    ...traveler,
    email: isEmailLower ? email.toLowerCase() : email,
    ...(isPhoneCompact && phoneNumber ? { phoneNumber: phoneNumber.replaceAll(' ', '') } : {}),
  };
}

function cachedLookups(fake: FakeTravel, time: VirtualTime, random: Random): TravelLookups {
  let cached: { value: Lookups; at: number } | undefined;
  const isRecent = () => cached !== undefined && time.now() - cached.at < CACHE_MS;
  const read = async (): Promise<TravelAnswer<Lookups>> => {
    await time.wait(2 + random.below(40));
    cached = { value: fake.lookupData, at: time.now() };
    return { kind: 'ok', value: cached.value };
  };
  return {
    current: async () => (cached && isRecent() ? { kind: 'ok', value: cached.value } : read()),
    refresh: read,
    expire: () => {
      cached = undefined;
    },
    adopt: (lookups, isRead) => {
      cached = { value: lookups, at: isRead ? time.now() : time.now() - CACHE_MS };
    },
    areCached: isRecent,
    readOwnUser: fake.lookups.readOwnUser,
  };
}
