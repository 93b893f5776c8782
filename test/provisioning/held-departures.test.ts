import type { Decision } from '../../src/model/identity.ts';
import {
  addressOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';
import { saveDecision } from '../fixtures/save-decision.ts';

const users = 'default';
const bert = { name: { givenName: 'Bert', familyName: 'Quinn' } };
/** Lets one person leave in an hour. */
const narrowValve = { share: 0, minimum: 1, windowMs: 3_600_000 };

async function settle(fixture: ProvisioningFixture): Promise<void> {
  for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
  expect(await fixture.bridge.reconcileDue()).toBe(0);
}

async function decide(fixture: ProvisioningFixture, id: string, answer: Decision['answer']): Promise<void> {
  await saveDecision(fixture.store, users, { ids: [id] }, answer, fixture.clock.now());
  await settle(fixture);
}

/** Creates Ada, whose departure the safety valve holds, because Cy has left before. */
async function heldLeaver(fixture: ProvisioningFixture): Promise<{ id: string; travelId: string }> {
  const cy = await fixture.bridge.users.create(users, person('Cy'));
  const ada = await fixture.bridge.users.create(users, person('Ada', { userName: 'ada.one' }));
  for (const { id } of [cy, ada]) await fixture.patch(id, { active: false });
  await settle(fixture);
  expect(await fixture.identity(ada.id)).toMatchObject({ hold: { cause: 'safetyValve' } });
  return { id: ada.id, travelId: ada.travelUserId ?? '' };
}

test('a departure that was discarded stays so when the SCIM user is activated for another person', () =>
  withFixture(
    async (fixture) => {
      const { id, travelId } = await heldLeaver(fixture);
      await decide(fixture, id, 'discarded');
      await fixture.patch(id, { ...bert, ...emailsOf('bert@corp.example'), active: true });
      await settle(fixture);
      expect(await fixture.traveler(id)).toMatchObject({ firstName: 'Bert', email: 'bert@corp.example' });
      expect(fixture.travel.travelers.get(travelId)).toMatchObject({ archived: false, firstName: 'Ada' });
    },
    { policies: { safetyValve: narrowValve } },
  ));

test.each(['approved', 'discarded'] as const)(
  'a departure that is held only once the user has a successor can be %s',
  (answer) =>
    withFixture(
      async (fixture) => {
        const { bridge, travel, clock, patch } = fixture;
        const cy = await bridge.users.create(users, person('Cy'));
        const ada = await bridge.users.create(users, person('Ada', { externalId: '00u1' }));
        await patch(ada.id, { title: 'Clerk' });
        await patch(ada.id, { title: 'Weaver' });
        const rejected = { kind: 'unavailable', text: '429', isRejected: true } as const;
        travel.faultFor = ({ verb }) => (verb === 'patch' ? rejected : undefined);
        await patch(ada.id, { active: false });
        clock.advance(7_200_000);
        await patch(cy.id, { active: false });
        await patch(ada.id, { ...bert, ...emailsOf('bert@corp.example'), externalId: '00u2', active: true });
        travel.faultFor = () => undefined;
        await settle(fixture);
        const travelId = ada.travelUserId ?? '';
        const tombstone = await fixture.store.identities.findHolder('travel', { travelId });
        expect(tombstone).toMatchObject({ hold: { cause: 'safetyValve' } });
        await decide(fixture, tombstone?.id ?? '', answer);
        expect(await fixture.identity(tombstone?.id ?? '')).toMatchObject({ state: 'synced' });
        expect(travel.travelers.get(travelId)).toMatchObject({ archived: answer === 'approved' });
      },
      { policies: { safetyValve: narrowValve } },
    ),
);

describe('a departure that the safety valve holds', () => {
  const successor = person('Ada', { userName: 'ada.two', ...bert });
  const options = { policies: { safetyValve: narrowValve } } as const;

  test('stays held when a successor is created after the window has moved on', () =>
    withFixture(async (fixture) => {
      const { id: ada } = await heldLeaver(fixture);
      fixture.clock.advance(7_200_000);
      await fixture.bridge.users.create(users, successor);
      await settle(fixture);
      expect(await fixture.identity(ada)).toMatchObject({ hold: { cause: 'safetyValve' } });
      expect(await fixture.traveler(ada)).toMatchObject({ archived: false, email: addressOf('Ada') });
    }, options));

  test('does not keep the traveler from the second user of the same person, who waits for the address', () =>
    withFixture(async (fixture) => {
      const { bridge } = fixture;
      const values = { externalId: '00u1' };
      const ada = await bridge.users.create(users, person('Ada', { ...values, userName: 'ada.one' }));
      const again = await bridge.users.create(users, person('Ada', { ...values, userName: 'ada.two' }));
      const cy = await bridge.users.create(users, person('Cy'));
      await bridge.users.remove(users, cy.id);
      await bridge.users.remove(users, ada.id);
      await settle(fixture);
      expect(await fixture.traveler(again.id)).toMatchObject({ id: ada.travelUserId, archived: false });
    }, options));

  test.each([true, false])(
    'lets a successor have the userName as address until it is approved (an import has seen the address: %s)',
    (isListed) =>
      withFixture(async (fixture) => {
        const { travelers } = fixture.travel;
        const { id: ada, travelId } = await heldLeaver(fixture);
        const traveler = travelers.get(travelId);
        if (traveler) travelers.set(travelId, { ...traveler, email: 'sales@corp.example' });
        if (isListed) await fixture.importTravelers();
        const attributes = { userName: 'bert@corp.example', ...bert, ...emailsOf('sales@corp.example') };
        const { id } = await fixture.bridge.users.create(users, person('Bert', attributes));
        await settle(fixture);
        expect(await fixture.traveler(id)).toMatchObject({ archived: false, email: 'bert@corp.example' });
        expect(travelers.get(travelId)).toMatchObject({ archived: false, email: 'sales@corp.example' });
        await decide(fixture, ada, 'approved');
        expect((await fixture.traveler(id))?.email).toBe('sales@corp.example');
      }, options),
  );

  test('is carried out with an approval that was given before a successor was created', () =>
    withFixture(async (fixture) => {
      const { id: ada } = await heldLeaver(fixture);
      await saveDecision(fixture.store, users, { ids: [ada] }, 'approved', fixture.clock.now());
      await fixture.bridge.users.create(users, successor);
      await settle(fixture);
      expect(await fixture.traveler(ada)).toMatchObject({ archived: true });
    }, options));
});

test('a kept traveler is not handed over to a user who gets the address later', () =>
  withFixture(
    async (fixture) => {
      const ada = await heldLeaver(fixture);
      await decide(fixture, ada.id, 'discarded');
      const user = await fixture.bridge.users.create(users, { userName: 'bert', ...bert, active: true });
      await fixture.patch(user.id, emailsOf(addressOf('Ada')));
      await settle(fixture);
      expect(await fixture.traveler(ada.id)).toMatchObject({ archived: false, firstName: 'Ada' });
      expect(await fixture.identity(user.id)).toMatchObject({ state: 'pending', travelId: undefined });
    },
    { policies: { safetyValve: narrowValve } },
  ));
