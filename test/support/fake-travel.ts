import type { TravelAnswer, TravelFailure, TravelLookups, TravelUsers } from '../../src/bridge/ports.ts';
import type { Json, JsonObject } from '../../src/schema/resource.ts';
import type { Lookups } from '../../src/translator/snapshot.ts';
import type { TravelUser } from '../../src/translator/travel-user.ts';

/** One call that reached the fake: what was asked, of whom, with what. */
export interface Call {
  verb: 'create' | 'read' | 'patch' | 'remove' | 'byEmail' | 'page';
  id?: string;
  body?: JsonObject;
  emails?: string[];
}

/**
 * A failure is answered in place of the answer; `lose` carries the call out and answers unavailable; `late` answers
 * unavailable and carries the call out when `carryOutLate` is called; `die` carries it out and `hang` does not, and neither
 * ever answers, as when the asking process is killed.
 */
export type Trouble = TravelFailure | 'lose' | 'late' | 'die' | 'hang' | undefined;

/** A call that is held back. */
export interface Held {
  /** Resolves when the call has come. */
  reached: Promise<void>;
  /** Lets it go on, to whatever becomes of it. */
  release(trouble?: Trouble): void;
}

/** A travel API in memory, as a value of the bridge's ports, that misbehaves as told. */
export interface FakeTravel {
  users: TravelUsers;
  lookups: TravelLookups;
  people: Map<string, TravelUser>;
  calls: Call[];
  /** The ids of travelers whom a page tells by their id alone, as nothing else of them can be read. */
  unreadable: Set<string>;
  /** The order in which a page lists travelers. */
  listed(people: TravelUser[]): TravelUser[];
  /** What the lookups answer; change it and the next reading sees it. */
  known: Lookups;
  /** Its own clock; undefined: its answers do not tell the time, and every traveler was made at 10:00. */
  now: (() => number) | undefined;
  /** Called before the lookups are read anew because something was not found. */
  beforeRefresh(): void;
  /** Called before a call is carried out; what it answers becomes of the call. */
  trouble: (call: Call) => Trouble | Promise<Trouble>;
  /** Holds back the next call of the verb. */
  hold(verb: Call['verb']): Held;
  /** Carries out the calls that were answered `late`, in the order in which they were made. */
  carryOutLate(): void;
  /** Puts a traveler there as if by hand. */
  add(user: Partial<TravelUser> & { email: string }): TravelUser;
  /** The calls that write. */
  writes(): Call[];
}

/** An empty travel service with one admin, to whom the credential belongs. */
export function fakeTravel(now?: () => number): FakeTravel {
  const people = new Map<string, TravelUser>();
  const calls: Call[] = [];
  const overdue: (() => unknown)[] = [];
  let last = 0;
  const add: FakeTravel['add'] = (user) => {
    last += 1;
    const traveler: TravelUser = {
      id: `t-${last}`,
      archived: false,
      createdAt: fake.now ? inSeconds(fake.now()) : '2026-11-20T10:00:00Z',
      ...user,
    };
    people.set(traveler.id, traveler);
    return traveler;
  };
  const fake: FakeTravel = {
    users: travelUsers(() => fake, { add, overdue }),
    lookups: travelLookups(
      () => fake,
      () => self,
    ),
    now,
    people,
    calls,
    unreadable: new Set(),
    listed: (all) => all,
    known: {
      customFields: [],
      costCenters: [],
      billingProfiles: [],
      travelPolicies: [],
      scimUserMappings: [],
    },
    beforeRefresh: () => {},
    trouble: () => undefined,
    hold: (verb) => hold(fake, verb),
    carryOutLate: () => {
      for (const carryOut of overdue.splice(0)) carryOut();
    },
    add,
    writes: () => calls.filter(({ verb }) => verb === 'create' || verb === 'patch' || verb === 'remove'),
  };
  const self = add(credentialUser);
  return fake;
}

const credentialUser = {
  email: 'bridge@travel.example',
  roles: ['admin'],
  firstName: 'Bridge',
  lastName: 'Credential',
};

/** As the specification writes times: in UTC, with whole seconds. */
function inSeconds(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}

function hold(fake: FakeTravel, verb: Call['verb']): Held {
  const { trouble } = fake;
  let arrive = () => {};
  let release: Held['release'] = () => {};
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const released = new Promise<Trouble>((resolve) => {
    release = resolve;
  });
  fake.trouble = (call) => {
    if (call.verb !== verb) return trouble(call);
    fake.trouble = trouble;
    arrive();
    return released;
  };
  return { reached, release: (outcome) => release(outcome) };
}

function travelLookups(fake: () => FakeTravel, self: () => TravelUser): TravelLookups {
  const answer = async (): Promise<TravelAnswer<Lookups>> => ({ kind: 'ok', value: fake().known });
  const refresh = () => {
    fake().beforeRefresh();
    return answer();
  };
  return { current: answer, refresh, expire: () => {}, self: async () => ({ kind: 'ok', value: self() }) };
}

function travelUsers(
  fake: () => FakeTravel,
  { add, overdue }: { add: FakeTravel['add']; overdue: (() => unknown)[] },
): TravelUsers {
  const call = async <T>(made: Call, carryOut: () => TravelAnswer<T>): Promise<TravelAnswer<T>> => {
    fake().calls.push(copyOf(made));
    const trouble = await fake().trouble(made);
    if (trouble === undefined) return copyOf(carryOut());
    if (trouble === 'hang') return new Promise(() => {});
    if (trouble === 'late') {
      overdue.push(carryOut);
      return { kind: 'unavailable', text: 'no answer came' };
    }
    if (trouble !== 'lose' && trouble !== 'die') return trouble;
    carryOut();
    return trouble === 'lose' ? { kind: 'unavailable', text: 'the answer was lost' } : new Promise(() => {});
  };
  const byKey = (email: string) =>
    [...fake().people.values()].find((one) => one.email.toLowerCase() === email.toLowerCase());
  const one = (id: string): TravelAnswer<TravelUser> => {
    const user = fake().people.get(id);
    return user ? { kind: 'ok', value: user } : { kind: 'notFound' };
  };
  return {
    create: (body) =>
      call({ verb: 'create', body }, () => {
        if (byKey(String(body.email))) return { kind: 'conflict' };
        return {
          kind: 'ok',
          value: add({ archived: false, ...body } as Partial<TravelUser> & { email: string }),
        };
      }),
    serverTime: () => fake().now?.(),
    read: (id) => call({ verb: 'read', id }, () => one(id)),
    patch: (id, body) =>
      call({ verb: 'patch', id, body }, () => {
        const user = fake().people.get(id);
        if (!user) return { kind: 'notFound' };
        const holder = typeof body.email === 'string' ? byKey(body.email) : undefined;
        if (holder && holder.id !== id) return { kind: 'conflict' };
        const merged = merge(user as unknown as JsonObject, body) as unknown as TravelUser;
        fake().people.set(id, merged);
        return { kind: 'ok', value: merged };
      }),
    remove: (id) =>
      call({ verb: 'remove', id }, () => {
        const user = one(id);
        fake().people.delete(id);
        return user;
      }),
    byEmail: (emails) =>
      call({ verb: 'byEmail', emails }, () => ({
        kind: 'ok',
        value: emails.map(byKey).filter((user) => user !== undefined),
      })),
    page: (offset, limit) =>
      call({ verb: 'page' }, () => {
        const all = fake().listed([...fake().people.values()]);
        const part = all.slice(offset, offset + limit);
        const isReadable = ({ id }: TravelUser) => !fake().unreadable.has(id);
        const [total, length] = [all.length, part.length];
        const unreadable = part.filter((one) => !isReadable(one)).map(({ id }) => id);
        const end = { total, isTotalGiven: true, isLast: offset + length >= total };
        return { kind: 'ok', value: { users: part.filter(isReadable), unreadable, length, ...end } };
      }),
  };
}

/** As JSON would carry it; a structured clone would be of another realm in jest, and equal to nothing. */
function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

/** JSON merge patch (RFC 7396). */
function merge(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: JsonObject = { ...target };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = isObject(value) ? merge(objectOr(merged[name]), value) : value;
  }
  return merged;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectOr(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
