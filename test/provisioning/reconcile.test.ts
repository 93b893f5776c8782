import type { TravelFailure } from '../../src/model/travel-ports.ts';
import {
  addressOf,
  desiredOf,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';

const users = 'default';
const down: TravelFailure = { kind: 'unavailable', text: 'down', isUnanswered: true };

function invalid(...fields: string[]): TravelFailure {
  return { kind: 'invalid', fields: fields.map((field) => ({ field, code: 'type', message: 'no' })) };
}

test.each<[string, TravelFailure]>([
  ['an outage', down],
  ['a wrong credential', { kind: 'unauthorized' }],
  ['an unknown collection', { kind: 'notFound' }],
])('a create stays dirty after %s, and is sent again when it is over', (_, failure) =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = () => failure;
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'dirty', attempts: 1 });
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(60_000);
    expect((await fixture.identity(ada.id)).state).toBe('synced');
  }),
);

test.each<[string, TravelFailure]>([
  ['an outage', down],
  ['a wrong credential', { kind: 'unauthorized' }],
])('a change stays dirty after %s, and is sent again when it is over', (_, failure) =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    fixture.travel.faultFor = () => failure;
    await fixture.patch(ada.id, { preferredLanguage: 'fr' });
    expect(desiredOf(await fixture.bridge.users.read(users, ada.id)).preferredLanguage).toBe('fr');
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'dirty', attempts: 1 });
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(60_000);
    expect((await fixture.traveler(ada.id))?.lang).toBe('fr');
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'synced', attempts: 0 });
  }),
);

test('a write that the travel API forbids is refused, and retried when the IdP repeats it', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = ({ verb }) => (verb === 'create' ? { kind: 'forbidden' } : undefined);
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'refused', creating: undefined });
    expect(await fixture.findings(ada.id)).toEqual(['*: forbidden']);
    fixture.travel.faultFor = () => undefined;
    await fixture.patch(ada.id, {});
    expect((await fixture.identity(ada.id)).state).toBe('synced');
  }));

test('refused fields are left out of a create, and the traveler is created', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = ({ body }) => (body?.lang ? invalid('lang') : undefined);
    const ada = await fixture.bridge.users.create(users, person('Ada', { preferredLanguage: 'fr' }));
    expect(fixture.travel.writes().map(({ body }) => body?.lang)).toEqual(['fr', undefined]);
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'refused', travelId: expect.any(String) });
    expect(await fixture.findings(ada.id)).toEqual(['lang: refusedByTravelApi']);
  }));

test('a create whose only address is refused is pending', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = ({ verb }) => (verb === 'create' ? invalid('email') : undefined);
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'pending', creating: undefined });
    expect(await fixture.findings(ada.id)).toEqual(['email: refusedByTravelApi']);
    expect(fixture.travel.writes()).toHaveLength(1);
  }));

test('a create that is refused without a known field is pending, and no create stays announced', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = ({ verb }) => (verb === 'create' ? invalid('mystery') : undefined);
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'pending', creating: undefined });
    expect(await fixture.findings(ada.id)).toEqual(['*: refusedByTravelApi']);
  }));

test('a refused address falls back to the userName', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = ({ body }) => (body?.email === addressOf('Ada') ? invalid('email') : undefined);
    const ada = await fixture.bridge.users.create(users, person('Ada', { userName: 'ada@login.example' }));
    expect((await fixture.traveler(ada.id))?.email).toBe('ada@login.example');
  }));

test('a change that is refused without a known field is not sent again', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    fixture.travel.faultFor = ({ verb }) => (verb === 'patch' ? invalid() : undefined);
    fixture.travel.calls.length = 0;
    await fixture.patch(ada.id, { preferredLanguage: 'fr' });
    await fixture.patch(ada.id, { nickName: 'A' });
    expect(fixture.travel.calls).toHaveLength(1);
    expect((await fixture.identity(ada.id)).state).toBe('refused');
  }));

test('the waits between attempts double, up to a minute', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = () => down;
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    const wait = async () => ((await fixture.identity(ada.id)).nextAttemptAt ?? 0) - fixture.clock.now();
    const waits = [await wait()];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await fixture.reconcileAfter(waits.at(-1) ?? 0);
      waits.push(await wait());
    }
    expect(waits).toEqual([750, 1_500, 3_000, 6_000]);
    for (let attempt = 0; attempt < 12; attempt += 1) await fixture.reconcileAfter(20 * 60_000);
    expect(await wait()).toBe(45_000);
  }));

test('no call is made before the time that Retry-After asks for, up to a minute', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = () => ({ kind: 'unavailable', text: '500', retryAfterMs: 120_000 });
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    fixture.travel.faultFor = () => undefined;
    fixture.travel.calls.length = 0;
    await fixture.reconcileAfter(59_000);
    expect(fixture.travel.calls).toEqual([]);
    await fixture.reconcileAfter(1_000);
    expect((await fixture.identity(ada.id)).state).toBe('synced');
  }));

test('after five unanswered identities the connection pauses, and then probes with one identity at a time', () =>
  withFixture(async (fixture) => {
    fixture.travel.faultFor = () => down;
    const people = ['Ada', 'Bob', 'Cy', 'Di', 'Ed', 'Flo', 'Gil'];
    for (const name of people) await fixture.bridge.users.create(users, person(name));
    expect(fixture.travel.calls).toHaveLength(5);
    fixture.travel.calls.length = 0;
    await fixture.reconcileAfter(2_000);
    expect(fixture.travel.calls).toHaveLength(1);
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(60_000);
    expect(await states(fixture)).toEqual({ synced: people.length });
  }));

test('identities stay dirty as long as the travel API has never been readable', () =>
  withFixture(async (fixture) => {
    fixture.travel.lookups.current = async () => down;
    await fixture.restart();
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    expect(await fixture.identity(ada.id)).toMatchObject({ state: 'dirty', attempts: 1 });
    expect(fixture.travel.calls).toEqual([]);
  }));

test('an error inside the bridge backs off and loses nothing', () =>
  withFixture(async (fixture) => {
    const { read } = fixture.travel.users;
    fixture.travel.faultFor = () => {
      throw new Error('a fault');
    };
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    expect(await fixture.identity(ada.id)).toMatchObject({
      state: 'dirty',
      creating: { email: addressOf('Ada') },
    });
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(5_000);
    expect((await read((await fixture.identity(ada.id)).travelId ?? '')).kind).toBe('ok');
  }));

async function states({ store }: ProvisioningFixture): Promise<Record<string, number>> {
  const counts = await store.reconcileQueue.countByState();
  return Object.fromEntries(
    counts.filter(({ count }) => count > 0).map(({ state, count }) => [state, count]),
  );
}
