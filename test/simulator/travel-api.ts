import type { Connection } from '../../src/provisioning/connection.ts';
import type {
  TravelAnswer,
  TravelFailure,
  TravelLookups,
  TravelUsers,
} from '../../src/provisioning/travel-ports.ts';
import type { Lookups } from '../../src/translator/translation.ts';
import type { TravelUser } from '../../src/translator/traveler.ts';
import { type FakeFeed, fakeFeed } from '../fixtures/fake-feed.ts';
import { type FakeTravel, fakeTravel } from '../fixtures/fake-travel.ts';
import type { Random } from '../fixtures/seeded.ts';
import { type Fault, failures } from './faults.ts';
import { genericRestUsers } from './generic-rest-travel.ts';
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
  /** It does not delete travelers that have been on trips: every second one. */
  isDeletionRefused?: boolean;
  /** It has the form of the profile `generic-rest`, and is called by the adapter; otherwise it is called by the ports of provisioning. */
  isGenericRest: boolean;
}

/** The travel service of a history: one for all connections of an account. */
export interface SimulatedTravel {
  fake: FakeTravel;
  feed: FakeFeed;
  /** The faults of the next calls about travelers, in order; undefined lets a call pass. */
  faults: (Fault | undefined)[];
  /** The travelers of which a change was answered and not carried out. */
  disobedient: Set<string>;
  /** The travelers that the bridge has deleted. */
  removed: TravelUser[];
  /** The number of times that a traveler was passed on to a person of another family, by its id. */
  passedOn: Map<string, number>;
  /** The travelers that PATCHes have changed which were carried out late, as they were then, by their ids. */
  late: Map<string, TravelUser>;
  /** The travelers that the bridge has made, as they were then, with the times at which the creates were sent. */
  made: { traveler: TravelUser; sentAt: number }[];
  /** The number of calls that could change something. */
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
  /** Resolves when no call is being carried out late any more. */
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
}

/** Creates the travel service. A call takes some time, and may have a fault. */
export function simulatedTravel(deps: Deps): SimulatedTravel {
  const { time, random, story, habits, connection } = deps;
  const fake = fakeTravel(habits.hasDate ? time.now : undefined);
  const feed = fakeFeed();
  const faults: SimulatedTravel['faults'] = [];
  const disobedient = new Set<string>();
  const removed: TravelUser[] = [];
  const late = new Map<string, TravelUser>();
  const made: SimulatedTravel['made'] = [];
  const passedOn = new Map<string, number>();
  const noteLate = (text: string) => {
    const [, id = ''] = /^(?:patch |PUT \S*\/)(\S+)/.exec(text) ?? [];
    const traveler = fake.travelers.get(id);
    if (traveler) late.set(id, { ...traveler });
  };
  let writes = 0;
  let calls = 0;
  let handChanges = 0;
  let open = 0;
  const later = (ms: number, carryOut: () => Promise<unknown>) => {
    open += 1;
    void time.wait(ms).then(async () => {
      await carryOut();
      open -= 1;
    });
  };
  const noteCreate = (answer: TravelAnswer<unknown>, sentAt: number) => {
    const { id } = answer.kind === 'ok' ? (answer.value as { id?: string }) : {}; // A traveler.
    const traveler = fake.travelers.get(id ?? '');
    if (traveler) made.push({ traveler: { ...traveler }, sentAt });
  };
  const call = async <T>(text: string, send: () => Promise<TravelAnswer<T>>, isWrite: boolean) => {
    const fault = faults.shift();
    const sentAt = time.now();
    const carryOut = () => {
      const answering = send();
      if (isCreate(text)) void answering.then((answer) => noteCreate(answer, sentAt));
      return answering;
    };
    calls += 1;
    if (isWrite) writes += 1;
    if (isWrite || fault) story.tell(`  call: ${text}${fault ? `  ✗ ${fault}` : ''}`);
    await time.wait(2 + random.below(60));
    const { callTimeoutMs: timeoutMs, lateMs } = connection;
    const unanswered: TravelFailure = { kind: 'unavailable', text: 'no answer came', isUnanswered: true };
    switch (fault) {
      case undefined:
        return carryOut();
      case 'slow':
        await time.wait(random.below(timeoutMs - 100));
        return carryOut();
      case 'lost':
        await carryOut();
        return unanswered;
      case 'hang':
        await time.wait(timeoutMs);
        return unanswered;
      case 'late':
        later(random.below(timeoutMs + lateMs - 2_000), async () => {
          story.tell(`  carried out late: ${text}`);
          await carryOut();
          noteLate(text);
        });
        await time.wait(timeoutMs);
        return unanswered;
      case 'twice': {
        const first = await carryOut();
        // Without a time, the bridge cannot tell the traveler of a create that got 409 from one that was made by hand.
        return text.startsWith('create') && !habits.hasDate ? first : carryOut();
      }
      case 'noEffect':
        return (await withoutEffect(text)) ?? carryOut();
      default:
        return failures[fault];
    }
  };
  /**
   * The answer to an archive or its opposite that is accepted and does nothing; undefined for any other call. The bridge can only notice
   * values that an answer shows otherwise, so other fields would stay as they are.
   */
  const withoutEffect = async (text: string): Promise<TravelAnswer<never> | undefined> => {
    const [verb, id = ''] = text.split(' ');
    const traveler = fake.travelers.get(id);
    if (verb !== 'patch' || !traveler || !text.includes('"archived":')) return undefined;
    disobedient.add(id);
    return { kind: 'ok', value: structuredClone(traveler) } as TravelAnswer<never>;
  };
  const store = (traveler: TravelUser) => {
    fake.travelers.set(traveler.id, withHabits(traveler, habits));
  };
  const changed = async (
    kind: string,
    carryOut: () => Promise<TravelAnswer<TravelUser>>,
    before?: TravelUser,
  ) => {
    const answer = await carryOut();
    if (answer.kind !== 'ok') return answer;
    return { kind: 'ok' as const, value: keep(kind, answer.value, before) };
  };
  const serverTime = () => (habits.hasDate ? time.now() - (time.now() % 1_000) : undefined);
  const keep = (kind: string, traveler: TravelUser, before?: TravelUser) => {
    if (before && before.lastName !== traveler.lastName)
      passedOn.set(traveler.id, (passedOn.get(traveler.id) ?? 0) + 1);
    store(traveler);
    const stored = fake.travelers.get(traveler.id) ?? traveler;
    feed.addEvent(kind, stored, before?.email);
    return stored;
  };
  const forget = (traveler: TravelUser) => {
    fake.travelers.delete(traveler.id);
    feed.addEvent('user.deleted', traveler);
  };
  const forgetForBridge = (traveler: TravelUser) => {
    removed.push(traveler);
    forget(traveler);
  };
  const removeTraveler = async (id: string) => {
    const traveler = fake.travelers.get(id);
    if (habits.isDeletionRefused && traveler && hasTraveled(id)) return { kind: 'forbidden' } as const;
    const answer = await fake.users.remove(id);
    if (traveler && answer.kind === 'ok') forgetForBridge(traveler);
    return answer;
  };
  const plainUsers: TravelUsers = {
    create: (body, key) =>
      call(
        `create ${JSON.stringify(body)}`,
        () => changed('user.created', () => fake.users.create(body, key)),
        true,
      ),
    read: (id) => call(`read ${id}`, () => fake.users.read(id), false),
    patch: (id, body) =>
      call(
        `patch ${id} ${JSON.stringify(body)}`,
        () => changed('user.updated', () => fake.users.patch(id, body), fake.travelers.get(id)),
        true,
      ),
    remove: (id) => call(`remove ${id}`, () => removeTraveler(id), true),
    findByEmails: (emails) => call(`find ${emails}`, () => fake.users.findByEmails(emails), false),
    readPage: (offset, limit) => call('page', () => fake.users.readPage(offset, limit), false),
    serverTime,
  };
  const { callTimeoutMs } = connection;
  const parts = { fake, time, timeoutMs: callTimeoutMs, serverTime, call, keep, remove: forgetForBridge };
  const users = habits.isGenericRest ? genericRestUsers(parts) : plainUsers;
  return {
    ...{
      fake,
      feed,
      faults,
      users,
      disobedient,
      removed,
      late,
      made,
      passedOn,
      writes: () => writes,
      calls: () => calls,
      handChanges: () => handChanges,
      areCallsOpen: () => open > 0,
    },
    newLookups: () => cachedLookups(fake, time, random),
    edit: (id, change) => {
      const traveler = fake.travelers.get(id);
      if (!traveler) return;
      handChanges += 1;
      store(change(traveler));
      feed.addEvent('user.updated', fake.travelers.get(id), traveler.email);
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

/** True for the text of a create, by the ports or by the profile `generic-rest`. */
function isCreate(text: string): boolean {
  return /^(create|POST \/v1\/people) /.test(text);
}

function withHabits(traveler: TravelUser, { isPhoneCompact, isEmailLower }: TravelHabits): TravelUser {
  const { phoneNumber, email } = traveler;
  return {
    ...traveler,
    email: isEmailLower ? email.toLowerCase() : email,
    ...(isPhoneCompact && phoneNumber ? { phoneNumber: phoneNumber.replaceAll(' ', '') } : {}),
  };
}

/** True for travelers whom a travel service with `isDeletionRefused` does not delete. */
export function hasTraveled(id: string): boolean {
  return Number(id.slice(2)) % 2 === 0;
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
