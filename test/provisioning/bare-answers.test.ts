import type { ScimResource } from '../../src/schema/resource.ts';
import type { Failure, OtherCall, OtherTravelApi } from '../fixtures/other-travel-api.ts';
import { type ProvisioningFixture, person } from '../fixtures/provisioning.ts';
import { remote, withRemoteTravel } from '../fixtures/remote-travel.ts';

const MINUTE_MS = 60_000;
const noRoute: Failure = { answer: 404, body: { message: 'no Route matched' } };
const blocked: Failure = { answer: 403, body: { message: 'Request blocked' } };
const emptyNotFound: Failure = { answer: 404 };

const isAboutOne = ({ path }: OtherCall) => /^\/api\/users\/./.test(path);
const nameOf = (givenName: string): ScimResource => ({ name: { givenName, familyName: 'Smith' } });

/** Creates Ada, and returns the id of the user and that of the traveler. */
async function createAda({
  bridge,
  identity,
}: ProvisioningFixture): Promise<{ id: string; travelId: string }> {
  const { id } = await bridge.users.create(remote, person('Ada'));
  const { travelId } = await identity(id, remote);
  return { id, travelId: travelId ?? '' };
}

/** Reconciles every twenty seconds until this time has passed. */
async function pass({ reconcileAfter }: ProvisioningFixture, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 20_000) await reconcileAfter(20_000);
}

/** Makes the travel API answer without codes about everybody except the bridge's own user. */
function answerBareExceptForOwn(api: OtherTravelApi): void {
  api.failCall = (call) =>
    isAboutOne(call) && !api.traveler(call.path.split('/').at(-1) ?? '') ? emptyNotFound : undefined;
}

describe('a gateway that answers in place of the travel API', () => {
  test.each([
    ['deactivated', noRoute],
    ['deactivated', emptyNotFound],
    ['deleted', noRoute],
    ['deleted', blocked],
  ])('does not keep a %s person active once it is gone (%j)', (change, answer) =>
    withRemoteTravel(async (fixture, api) => {
      const { id, travelId } = await createAda(fixture);
      api.failCall = (call) => (isAboutOne(call) ? answer : undefined);
      if (change === 'deleted') await fixture.bridge.users.remove(remote, id);
      else await fixture.patch(id, { active: false }, remote);
      await pass(fixture, 4 * MINUTE_MS);
      expect(await fixture.findings(id, remote)).toEqual([]);
      await pass(fixture, 2 * MINUTE_MS);
      expect(await fixture.identity(id, remote)).toMatchObject({ state: 'dirty', travelId });
      expect(await fixture.findings(id, remote)).toEqual(['*: unclearAnswer']);
      api.failCall = () => undefined;
      await pass(fixture, 2 * MINUTE_MS);
      expect(api.traveler(travelId)?.archived).toBe(true);
      expect(await fixture.identity(id, remote)).toMatchObject({ state: 'synced', findings: [] });
    }),
  );

  test('is told once, beside what else is found of the person', () =>
    withRemoteTravel(async (fixture, api) => {
      const unreadable = { phoneNumbers: [{ type: 'work', value: '12' }] };
      const { id } = await fixture.bridge.users.create(remote, person('Ada', unreadable));
      api.failCall = (call) => (isAboutOne(call) ? noRoute : undefined);
      await fixture.patch(id, { active: false }, remote);
      await pass(fixture, 7 * MINUTE_MS);
      expect(await fixture.findings(id, remote)).toEqual([
        'phoneNumber: phoneUnreadable',
        '*: unclearAnswer',
      ]);
    }));

  test('does not refuse a joiner for good (403)', () =>
    withRemoteTravel(async (fixture, api) => {
      api.failCall = ({ method }) => (method === 'POST' ? blocked : undefined);
      const { id } = await fixture.bridge.users.create(remote, person('Ada'));
      expect((await fixture.identity(id, remote)).state).toBe('dirty');
      api.failCall = () => undefined;
      await pass(fixture, MINUTE_MS);
      expect((await fixture.identity(id, remote)).state).toBe('synced');
      expect(api.traveler('ada@corp.example')).toBeDefined();
    }));

  test('does not prevent a deactivation because of another value of the same PATCH (403)', () =>
    withRemoteTravel(async (fixture, api) => {
      const { id, travelId } = await createAda(fixture);
      api.failCall = ({ data }) => (data && 'firstName' in data ? blocked : undefined);
      await fixture.patch(id, { active: false, ...nameOf('Select * from') }, remote);
      expect(api.traveler(travelId)?.archived).toBe(true);
      expect((await fixture.identity(id, remote)).state).toBe('dirty');
    }));

  test.each([blocked, noRoute])(
    'does not let a deleted person keep access if it prevents the DELETE alone (%j)',
    (answer) =>
      withRemoteTravel(
        async (fixture, api) => {
          const { id, travelId } = await createAda(fixture);
          api.failCall = ({ method }) => (method === 'DELETE' ? answer : undefined);
          await fixture.bridge.users.remove(remote, id);
          expect(api.traveler(travelId)?.archived).toBe(true);
          api.failCall = () => undefined;
          await pass(fixture, MINUTE_MS);
          expect(api.traveler(travelId)).toBeUndefined();
          expect((await fixture.identity(id, remote)).state).toBe('synced');
        },
        { policies: { deprovision: 'delete' } },
      ),
  );
});

describe('a 404 without a code', () => {
  test('is believed after a minute, if the own user can be read: an active person gets a traveler again', () =>
    withRemoteTravel(async (fixture, api) => {
      const { id, travelId } = await createAda(fixture);
      api.deleteTraveler(travelId);
      answerBareExceptForOwn(api);
      await fixture.patch(id, nameOf('Anna'), remote);
      await fixture.reconcileAfter(2_000);
      await fixture.reconcileAfter(57_000);
      expect(api.traveler('ada@corp.example')).toBeUndefined();
      await fixture.reconcileAfter(3_000);
      expect(api.traveler('ada@corp.example')).toMatchObject({ firstName: 'Anna' });
      expect(await fixture.identity(id, remote)).toMatchObject({ state: 'synced', findings: [] });
    }));

  test.each(['deactivated', 'deleted'])(
    'is believed after a minute: a %s person needs no traveler, and stays linked in case it exists nevertheless',
    (change) =>
      withRemoteTravel(async (fixture, api) => {
        const { id, travelId } = await createAda(fixture);
        api.deleteTraveler(travelId);
        answerBareExceptForOwn(api);
        if (change === 'deleted') await fixture.bridge.users.remove(remote, id);
        else await fixture.patch(id, { active: false }, remote);
        await fixture.reconcileAfter(50_000);
        expect(await fixture.identity(id, remote)).toMatchObject({ state: 'dirty', travelId });
        await fixture.reconcileAfter(15_000);
        const { state, travelId: linked, progress } = await fixture.identity(id, remote);
        expect([state, linked]).toEqual(['synced', travelId]);
        expect(progress.missingSince).toBeUndefined();
      }),
  );

  test('is not believed while the own user cannot be read, and the minute begins anew', () =>
    withRemoteTravel(async (fixture, api) => {
      const { id, travelId } = await createAda(fixture);
      const gone: Failure = noRoute;
      let isOwnReadable = true;
      api.failCall = (call) =>
        isAboutOne(call) && !(isOwnReadable && call.path.endsWith(api.selfId)) ? gone : undefined;
      await fixture.patch(id, { active: false }, remote);
      await fixture.reconcileAfter(50_000);
      isOwnReadable = false;
      await pass(fixture, 2 * MINUTE_MS);
      isOwnReadable = true;
      await fixture.reconcileAfter(50_000);
      expect(await fixture.identity(id, remote)).toMatchObject({ state: 'dirty', travelId });
    }));

  test('is forgotten when the traveler can be read in between', () =>
    withRemoteTravel(async (fixture, api) => {
      const { id, travelId } = await createAda(fixture);
      const failPatch = ({ method }: OtherCall) => (method === 'PATCH' ? { answer: 500 } : undefined);
      const failOne = (call: OtherCall) => (call.path.endsWith(travelId) ? noRoute : undefined);
      api.failCall = failOne;
      await fixture.patch(id, { active: false }, remote);
      expect((await fixture.identity(id, remote)).progress.missingSince).toBe(fixture.clock.now());
      api.failCall = failPatch;
      await fixture.reconcileAfter(MINUTE_MS);
      api.failCall = failOne;
      await fixture.reconcileAfter(MINUTE_MS);
      expect((await fixture.identity(id, remote)).travelId).toBe(travelId);
      api.failCall = () => undefined;
      await pass(fixture, 2 * MINUTE_MS);
      expect(api.traveler(travelId)?.archived).toBe(true);
    }));

  test('ends the link at once if it has the code `notFound`', () =>
    withRemoteTravel(async (fixture, api) => {
      const { id, travelId } = await createAda(fixture);
      api.deleteTraveler(travelId);
      await fixture.patch(id, { active: false }, remote);
      expect(await fixture.identity(id, remote)).toMatchObject({ state: 'synced', travelId: undefined });
    }));
});

describe('with a profile without error codes', () => {
  test('a 404 is believed after a minute, if the own user can be read', () =>
    withRemoteTravel(
      async (fixture, api) => {
        const { id, travelId } = await createAda(fixture);
        api.deleteTraveler(travelId);
        answerBareExceptForOwn(api);
        await fixture.patch(id, nameOf('Anna'), remote);
        await fixture.reconcileAfter(2_000);
        expect(await fixture.identity(id, remote)).toMatchObject({ state: 'dirty', travelId });
        await fixture.reconcileAfter(MINUTE_MS);
        expect(api.traveler('ada@corp.example')).toMatchObject({ firstName: 'Anna' });
        expect((await fixture.identity(id, remote)).state).toBe('synced');
      },
      { style: 'generic-rest' },
    ));

  test('a 403 refuses a person', () =>
    withRemoteTravel(
      async (fixture, api) => {
        api.failCall = ({ method }) => (method === 'POST' ? blocked : undefined);
        const { id } = await fixture.bridge.users.create(remote, person('Ada'));
        expect((await fixture.identity(id, remote)).state).toBe('refused');
      },
      { style: 'generic-rest' },
    ));
});
