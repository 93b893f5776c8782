import type { Failure, OtherCall, OtherTravelApi } from '../fixtures/other-travel-api.ts';
import { type ProvisioningFixture, person } from '../fixtures/provisioning.ts';
import { remote, withRemoteTravel } from '../fixtures/remote-travel.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const valve = { policies: { safetyValve: { share: 0, minimum: 0, windowMs: HOUR_MS } } };
/** A gateway's own answer, as JSON. */
const noRoute: Failure = { answer: 404, body: { message: 'no Route matched' } };

const isDeactivation = ({ path }: OtherCall) => path.endsWith('/deactivate');
const isAboutOne = ({ path }: OtherCall) => /^\/v1\/people\/./.test(path);
const deactivations = ({ calls }: OtherTravelApi) => calls.filter(isDeactivation).length;

function withGenericRest(
  test: (fixture: ProvisioningFixture, api: OtherTravelApi) => Promise<void>,
  more: object = {},
) {
  return withRemoteTravel(test, { style: 'generic-rest', ...more });
}

/** Reconciles every twenty seconds until this time has passed. */
async function pass({ reconcileAfter }: ProvisioningFixture, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 20_000) await reconcileAfter(20_000);
}

describe('a travel API that deactivates people by a request of its own', () => {
  test.each<[string, Failure]>([
    ['429', { answer: 429, headers: { 'Retry-After': '5' } }],
    ['503', { answer: 503 }],
    ['503 with a time', { answer: 503, headers: { 'Retry-After': '5' } }],
    ['no answer', { answer: 'reset' }],
  ])(
    'an inactive person whose deactivation after the create got %s is inactive with the next attempt',
    (_, failure) =>
      withGenericRest(async (fixture, api) => {
        api.failCall = (call) => (isDeactivation(call) ? failure : undefined);
        const { id } = await fixture.bridge.users.create(remote, person('Ada', { active: false }));
        expect(await fixture.identity(id, remote)).toMatchObject({
          state: 'dirty',
          attempts: 1,
          findings: [],
        });
        expect(api.traveler('ada@corp.example')).toMatchObject({ archived: false });
        api.failCall = () => undefined;
        await pass(fixture, MINUTE_MS);
        expect(api.traveler('ada@corp.example')).toMatchObject({ archived: true });
        expect(await fixture.identity(id, remote)).toMatchObject({ state: 'synced', findings: [] });
        expect(api.travelers()).toHaveLength(2);
        expect(deactivations(api)).toBe(2);
      }, valve),
  );

  test('a refused deactivation after the create is a refusal', () =>
    withGenericRest(async (fixture, api) => {
      api.failCall = (call) => (isDeactivation(call) ? { answer: 403 } : undefined);
      const { id } = await fixture.bridge.users.create(remote, person('Ada', { active: false }));
      await pass(fixture, MINUTE_MS);
      expect((await fixture.identity(id, remote)).state).toBe('refused');
      expect(await fixture.findings(id, remote)).toContain('archived: forbidden');
    }, valve));
});

test('a deactivation after the create that is carried out late does not end the access of a person who is active by then', () =>
  withGenericRest(async (fixture, api) => {
    const late: Failure = { answer: 'reset', carriedOut: 'onDemand' };
    api.failCall = (call) => (isDeactivation(call) ? late : undefined);
    const { id } = await fixture.bridge.users.create(remote, person('Ada', { active: false }));
    api.failCall = () => undefined;
    await fixture.patch(id, { active: true }, remote);
    await fixture.reconcileAfter(5_000);
    api.carryOutLate();
    await pass(fixture, 2 * MINUTE_MS);
    expect(api.traveler('ada@corp.example')).toMatchObject({ archived: false });
    expect(await fixture.identity(id, remote)).toMatchObject({ state: 'synced', findings: [] });
  }));

test('an edit by hand stays when the read before a PUT fails: nothing was sent', () =>
  withGenericRest(async (fixture, api) => {
    const { id } = await fixture.bridge.users.create(remote, person('Ada'));
    await fixture.patch(id, { active: false }, remote);
    const { travelId = '' } = await fixture.identity(id, remote);
    api.editTraveler(travelId, { archived: false });
    await fixture.patch(id, { title: 'Engineer', addresses: [{ type: 'work', locality: 'Lyon' }] }, remote);
    expect(await fixture.findings(id, remote)).toEqual(['archived: drift']);
    api.failCall = (call) => (isAboutOne(call) ? { answer: 500 } : undefined);
    await fixture.patch(id, { phoneNumbers: [{ type: 'work', value: '+33142685300' }] }, remote);
    api.failCall = () => undefined;
    await pass(fixture, MINUTE_MS);
    expect(api.traveler('ada@corp.example')).toMatchObject({ archived: false, phoneNumber: '+33 142685300' });
  }));

describe('a 404 of a travel API without error codes', () => {
  test.each(['deactivated', 'deleted'])('that a gateway sent does not leave a %s person active', (change) =>
    withGenericRest(async (fixture, api) => {
      const { id } = await fixture.bridge.users.create(remote, person('Ada'));
      api.failCall = (call) => (isAboutOne(call) ? noRoute : undefined);
      if (change === 'deleted') await fixture.bridge.users.remove(remote, id);
      else await fixture.patch(id, { active: false }, remote);
      await pass(fixture, 3 * MINUTE_MS);
      expect((await fixture.identity(id, remote)).state).toBe('dirty');
      api.failCall = () => undefined;
      await pass(fixture, 2 * MINUTE_MS);
      expect(api.traveler('ada@corp.example')).toMatchObject({ archived: true });
    }),
  );

  test.each(['deactivated', 'deleted'])(
    'is believed of a %s person after a minute, and an import that sees the traveler ends its access',
    (change) =>
      withGenericRest(async (fixture, api) => {
        const { id } = await fixture.bridge.users.create(remote, person('Ada'));
        const { travelId = '' } = await fixture.identity(id, remote);
        // Only the own user can be read.
        api.failCall = (call) => (call.path.includes(travelId) ? noRoute : undefined);
        if (change === 'deleted') await fixture.bridge.users.remove(remote, id);
        else await fixture.patch(id, { active: false }, remote);
        await pass(fixture, 2 * MINUTE_MS);
        expect(await fixture.identity(id, remote)).toMatchObject({ state: 'synced', findings: [] });
        api.failCall = () => undefined;
        await fixture.importTravelers(fixture.connectionOf(remote));
        expect(api.traveler(travelId)).toMatchObject({ archived: true });
        expect(await fixture.identity(id, remote)).toMatchObject({ state: 'synced', travelId });
      }),
  );

  test('is believed by an import once the own user could be read: the traveler is listed no longer', () =>
    withGenericRest(async (fixture, api) => {
      const { id: travelId } = api.addTraveler({ email: 'gone@corp.example', firstName: 'Gone' });
      const connection = fixture.connectionOf(remote);
      await fixture.importTravelers(connection);
      const find = () => fixture.store.identities.find(remote, { by: 'travelId', value: travelId });
      expect(await find()).toHaveLength(1);
      api.deleteTraveler(travelId);
      fixture.clock.advance(HOUR_MS);
      api.failCall = (call) => (isAboutOne(call) ? noRoute : undefined);
      await fixture.importTravelers(connection);
      expect(await find()).toHaveLength(1);
      api.failCall = () => undefined;
      fixture.clock.advance(HOUR_MS);
      await fixture.importTravelers(connection);
      expect(await find()).toEqual([]);
    }));
});
