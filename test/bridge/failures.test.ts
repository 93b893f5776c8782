import type { TravelFailure } from '../../src/bridge/ports.ts';
import { addressOf, type BridgeHouse, desiredOf, inHouse, person } from '../support/bridge-house.ts';

const users = 'default';
const down: TravelFailure = { kind: 'unavailable', text: 'down', isUnanswered: true };

function invalid(...fields: string[]): TravelFailure {
  return { kind: 'invalid', fields: fields.map((field) => ({ field, code: 'type', message: 'no' })) };
}

test.each<[string, TravelFailure]>([
  ['an outage', down],
  ['a wrong credential', { kind: 'unauthorized' }],
  ['an unknown collection', { kind: 'notFound' }],
])('after %s a create stays dirty, and arrives once that is over', (_, failure) =>
  inHouse(async (house) => {
    house.travel.trouble = () => failure;
    const ada = await house.bridge.users.create(users, person('Ada'));
    expect(await house.identity(ada.id)).toMatchObject({ state: 'dirty', attempts: 1 });
    house.travel.trouble = () => undefined;
    await house.pass(60_000);
    expect((await house.identity(ada.id)).state).toBe('synced');
  }),
);

test.each<[string, TravelFailure]>([
  ['an outage', down],
  ['a wrong credential', { kind: 'unauthorized' }],
])('after %s a change stays dirty, and arrives once that is over', (_, failure) =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    house.travel.trouble = () => failure;
    await house.patch(ada.id, { preferredLanguage: 'fr' });
    expect(desiredOf(await house.bridge.users.read(users, ada.id)).preferredLanguage).toBe('fr');
    expect(await house.identity(ada.id)).toMatchObject({ state: 'dirty', attempts: 1 });
    house.travel.trouble = () => undefined;
    await house.pass(60_000);
    expect((await house.traveler(ada.id))?.lang).toBe('fr');
    expect(await house.identity(ada.id)).toMatchObject({ state: 'synced', attempts: 0 });
  }),
);

test('a write that the travel API does not allow is refused, and tried again at a repeat', () =>
  inHouse(async (house) => {
    house.travel.trouble = ({ verb }) => (verb === 'create' ? { kind: 'forbidden' } : undefined);
    const ada = await house.bridge.users.create(users, person('Ada'));
    expect(await house.identity(ada.id)).toMatchObject({ state: 'refused', creating: undefined });
    expect(await house.findings(ada.id)).toEqual(['*: forbidden']);
    house.travel.trouble = () => undefined;
    await house.patch(ada.id, {});
    expect((await house.identity(ada.id)).state).toBe('synced');
  }));

test('fields that a create may not have are left out, and the traveler is made', () =>
  inHouse(async (house) => {
    house.travel.trouble = ({ body }) => (body?.lang ? invalid('lang') : undefined);
    const ada = await house.bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
    expect(house.travel.writes().map(({ body }) => body?.lang)).toEqual(['fr', undefined]);
    expect(await house.identity(ada.id)).toMatchObject({ state: 'refused', travelId: expect.any(String) });
    expect(await house.findings(ada.id)).toEqual(['lang: refusedByTravelApi']);
  }));

test('a create whose only address is refused is pending', () =>
  inHouse(async (house) => {
    house.travel.trouble = ({ verb }) => (verb === 'create' ? invalid('email') : undefined);
    const ada = await house.bridge.users.create(users, person('Ada'));
    expect(await house.identity(ada.id)).toMatchObject({ state: 'pending', creating: undefined });
    expect(await house.findings(ada.id)).toEqual(['email: refusedByTravelApi']);
    expect(house.travel.writes()).toHaveLength(1);
  }));

test('a create that is refused without a field of ours is pending, with no create left open', () =>
  inHouse(async (house) => {
    house.travel.trouble = ({ verb }) => (verb === 'create' ? invalid('mystery') : undefined);
    const ada = await house.bridge.users.create(users, person('Ada'));
    expect(await house.identity(ada.id)).toMatchObject({ state: 'pending', creating: undefined });
    expect(await house.findings(ada.id)).toEqual(['*: refusedByTravelApi']);
  }));

test('an address that is refused falls back to the userName', () =>
  inHouse(async (house) => {
    house.travel.trouble = ({ body }) => (body?.email === addressOf('Ada') ? invalid('email') : undefined);
    const ada = await house.bridge.users.create(users, person('Ada', { userName: 'ada@login.example' }));
    expect((await house.traveler(ada.id))?.email).toBe('ada@login.example');
  }));

test('a change that is refused without a field of ours is not sent again and again', () =>
  inHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    house.travel.trouble = ({ verb }) => (verb === 'patch' ? invalid() : undefined);
    house.travel.calls.length = 0;
    await house.patch(ada.id, { preferredLanguage: 'fr' });
    await house.patch(ada.id, { nickName: 'A' });
    expect(house.travel.calls).toHaveLength(1);
    expect((await house.identity(ada.id)).state).toBe('refused');
  }));

test('the waits between attempts double, up to a minute', () =>
  inHouse(async (house) => {
    house.travel.trouble = () => down;
    const ada = await house.bridge.users.create(users, person('Ada'));
    const wait = async () => ((await house.identity(ada.id)).nextAttemptAt ?? 0) - house.clock.now();
    const waits = [await wait()];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await house.pass(waits.at(-1) ?? 0);
      waits.push(await wait());
    }
    expect(waits).toEqual([750, 1_500, 3_000, 6_000]);
    for (let attempt = 0; attempt < 12; attempt += 1) await house.pass(20 * 60_000);
    expect(await wait()).toBe(45_000);
  }));

test('nothing is tried before the time that the travel API asks for, up to a minute', () =>
  inHouse(async (house) => {
    house.travel.trouble = () => ({ kind: 'unavailable', text: '500', retryAfterMs: 120_000 });
    const ada = await house.bridge.users.create(users, person('Ada'));
    house.travel.trouble = () => undefined;
    house.travel.calls.length = 0;
    await house.pass(59_000);
    expect(house.travel.calls).toEqual([]);
    await house.pass(1_000);
    expect((await house.identity(ada.id)).state).toBe('synced');
  }));

test('when five people have no answer the connection pauses, and then probes with one identity at a time', () =>
  inHouse(async (house) => {
    house.travel.trouble = () => down;
    const people = ['Ada', 'Bob', 'Cy', 'Di', 'Ed', 'Flo', 'Gil'];
    for (const name of people) await house.bridge.users.create(users, person(name));
    expect(house.travel.calls).toHaveLength(5);
    house.travel.calls.length = 0;
    await house.pass(2_000);
    expect(house.travel.calls).toHaveLength(1);
    house.travel.trouble = () => undefined;
    await house.pass(60_000);
    expect(await states(house)).toEqual({ synced: people.length });
  }));

test('a travel API that never could be read keeps everybody dirty', () =>
  inHouse(async (house) => {
    house.travel.lookups.current = async () => down;
    await house.restart();
    const ada = await house.bridge.users.create(users, person('Ada'));
    expect(await house.identity(ada.id)).toMatchObject({ state: 'dirty', attempts: 1 });
    expect(house.travel.calls).toEqual([]);
  }));

test('a fault of ours is waited out, and loses nothing', () =>
  inHouse(async (house) => {
    const { read } = house.travel.users;
    house.travel.trouble = () => {
      throw new Error('a fault');
    };
    const ada = await house.bridge.users.create(users, person('Ada'));
    expect(await house.identity(ada.id)).toMatchObject({ state: 'dirty', creating: addressOf('Ada') });
    house.travel.trouble = () => undefined;
    await house.pass(5_000);
    expect((await read((await house.identity(ada.id)).travelId ?? '')).kind).toBe('ok');
  }));

async function states({ store }: BridgeHouse): Promise<Record<string, number>> {
  const counts = await store.agenda.counts();
  return Object.fromEntries(
    counts.filter(({ count }) => count > 0).map(({ state, count }) => [state, count]),
  );
}
