import type { TravelFailure } from '../../src/model/travel-ports.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';
import { emailsOf, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';

const failures: [string, TravelFailure][] = [
  ['500', { kind: 'unavailable', text: '500' }],
  ['503 with Retry-After', { kind: 'unavailable', text: '503', isThrottled: true, isDoubtful: true }],
  ['422 that names a field', { kind: 'invalid', fields: [{ field: 'lang', code: 'x', message: 'no' }] }],
  ['422 that names nothing', { kind: 'invalid', fields: [] }],
  ['400', { kind: 'unavailable', text: '400', isRejected: true }],
  ['412', { kind: 'unavailable', text: '412', isRejected: true, isDoubtful: true }],
  ['403', { kind: 'forbidden' }],
  ['409', { kind: 'conflict' }],
];

test.each(failures)(
  'a deactivation is sent alone, first, after a PATCH with other fields failed (%s)',
  (_, failure) =>
    withFixture(async (fixture) => {
      const { bridge, travel, patch } = fixture;
      const ada = await bridge.users.create(users, person('Ada'));
      travel.calls.length = 0;
      travel.faultFor = ({ body }) => (body && Object.keys(body).length > 1 ? failure : undefined);
      await patch(ada.id, {
        active: false,
        preferredLanguage: 'fr',
        name: { givenName: 'A', familyName: 'B' },
      });
      for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
      expect(travel.writes()[1]?.body).toEqual({ archived: true });
      expect((await fixture.traveler(ada.id))?.archived).toBe(true);
    }),
);

test('the deactivation is also sent alone after a restart and after another write', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, patch } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    travel.calls.length = 0;
    const refuse = ({ body }: { body?: object }) =>
      body && Object.keys(body).length > 1 ? ({ kind: 'unavailable', text: '500' } as const) : undefined;
    travel.faultFor = refuse;
    await patch(ada.id, { active: false, preferredLanguage: 'fr' });
    await fixture.restart();
    travel.faultFor = refuse;
    await patch(ada.id, { nickName: 'A' });
    expect(travel.writes()[1]?.body).toEqual({ archived: true });
    expect((await fixture.traveler(ada.id))?.archived).toBe(true);
  }));

test.each(['before the answer', 'later'])(
  'what a deactivation that was answered 412 has also set is taken back, if it is carried out %s',
  (when) =>
    withFixture(async (fixture) => {
      const { bridge, travel, patch, traveler } = fixture;
      const ada = await bridge.users.create(users, person('Ada'));
      const now = await traveler(ada.id);
      if (!now) throw new Error('no traveler');
      const carryOut = () =>
        void travel.travelers.set(now.id, {
          ...now,
          archived: true,
          firstName: 'Augusta',
          lastName: 'Byron',
        });
      const { faultFor } = travel;
      travel.faultFor = ({ body = {} }) => {
        if (!('lastName' in body)) return undefined;
        if (!('archived' in body)) return { kind: 'unavailable', text: '413', isRejected: true };
        if (when === 'before the answer') carryOut();
        return { kind: 'unavailable', text: '412', isRejected: true, isDoubtful: true };
      };
      await patch(ada.id, { active: false, name: { givenName: 'Augusta', familyName: 'Byron' } });
      await fixture.reconcileAfter(1_000);
      expect((await traveler(ada.id))?.archived).toBe(true);
      travel.faultFor = faultFor;
      await patch(ada.id, { name: { givenName: 'Ada', familyName: now.lastName ?? '' } });
      if (when === 'later') carryOut();
      await fixture.reconcileAfter(61_000);
      expect(await traveler(ada.id)).toMatchObject({
        archived: true,
        firstName: 'Ada',
        lastName: now.lastName,
      });
      expect(await fixture.findings(ada.id)).toEqual([]);
    }),
);

test('a reactivation un-archives a person whose process was killed between the deactivation and the rest of a change', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, patch } = fixture;
    const ada = await bridge.users.create(users, person('Ada'));
    const invalid = { kind: 'invalid', fields: [{ field: 'lang', code: 'x', message: 'no' }] } as const;
    travel.faultFor = ({ body = {} }) => {
      if (!('archived' in body)) return 'lang' in body ? 'die' : undefined;
      return 'lang' in body ? { ...invalid, fields: [...invalid.fields] } : undefined;
    };
    void patch(ada.id, { active: false, preferredLanguage: 'fr' });
    await waitUntilIdle();
    expect((await fixture.traveler(ada.id))?.archived).toBe(true);
    await fixture.restart();
    await fixture.patch(ada.id, { active: true });
    for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
    expect(await fixture.findings(ada.id)).toEqual([]);
    expect((await fixture.traveler(ada.id))?.archived).toBe(false);
  }));

describe('a deactivation does not wait for the search for the holder of an address', () => {
  const findNobody = ({ verb }: { verb: string }) =>
    verb === 'findByEmails' ? ({ kind: 'unavailable', text: '500' } as const) : undefined;

  test('that is changed by the same PATCH, and is taken', () =>
    withFixture(async (fixture) => {
      const { bridge, travel, patch } = fixture;
      const ada = await bridge.users.create(users, person('Ada'));
      travel.addTraveler({ email: 'taken@x.example' });
      travel.faultFor = findNobody;
      await patch(ada.id, { active: false, ...emailsOf('taken@x.example') });
      for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
      expect((await fixture.traveler(ada.id))?.archived).toBe(true);
    }));

  test('for which the person waits', () =>
    withFixture(async (fixture) => {
      const { bridge, travel, patch } = fixture;
      const ada = await bridge.users.create(users, person('Ada'));
      travel.addTraveler({ email: 'taken@x.example' });
      await patch(ada.id, emailsOf('taken@x.example'));
      expect((await fixture.identity(ada.id)).waitingFor).toBe('taken@x.example');
      travel.faultFor = findNobody;
      await patch(ada.id, { active: false });
      expect((await fixture.traveler(ada.id))?.archived).toBe(true);
      expect((await fixture.identity(ada.id)).waitingFor).toBe('taken@x.example');
    }));
});
