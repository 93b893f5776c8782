import { type Identity, newIdentity } from '../../src/model/identity.ts';
import { defaultPolicies } from '../../src/model/policies.ts';
import { noLookups } from '../../src/model/translation.ts';
import type { TravelAnswer } from '../../src/model/travel-ports.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import type { ReconcileContext } from '../../src/provisioning/reconcile/context.ts';
import { carriedOutBy, run } from '../../src/provisioning/reconcile/effects.ts';
import { reconcileTraveler } from '../../src/provisioning/reconcile/reconcile-traveler.ts';
import { toRulesSnapshot } from '../../src/provisioning/rules/rules-snapshot.ts';
import type { JsonObject, ScimResource } from '../../src/schema/resource.ts';
import { toTravel } from '../../src/translator/to-travel.ts';
import {
  addressOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';
import { mappingOf } from '../fixtures/translator.ts';

const clock = { now: () => 0, wallClock: () => 0, newId: () => 'ada' };
const rulesSnapshot = toRulesSnapshot({ mapping: mappingOf({ scope: 'userType eq "Employee"' }) }, noLookups);
const traveler: TravelUser = {
  ...{ id: 't-1', email: 'ada@corp.example', archived: false, createdAt: '2026-11-20T10:00:00Z' },
};
const inTravelService = (values: Partial<TravelUser>) => ({ ...traveler, ...values });

/** An identity whose traveler the bridge has made, and reconciled at the present version. */
function linked(desired: ScimResource, values: Partial<TravelUser> = {}): Identity {
  const observed = inTravelService(values);
  const { archived, email } = observed;
  return {
    ...newIdentity(clock, { id: 'default' }, desired),
    ...{ travelId: 't-1', observed, progress: { settledVersion: 1 } },
    applied: {
      archived: { sent: archived, seen: archived, source: !archived },
      email: { sent: email, seen: email, source: email },
    },
  };
}

/**
 * Reconciles a user whose scope depends on a group that has not been received, with a travel API that gives `read` to who reads the
 * traveler. Returns the result and what was sent.
 */
async function reconcile(
  identity: Identity,
  read: TravelAnswer<TravelUser> = { kind: 'ok', value: identity.observed ?? traveler },
) {
  const { desired, applied } = identity;
  const translation = toTravel(rulesSnapshot.rules, desired, {
    ...{ lookups: noLookups, references: new Map(), applied },
    namesUnknownGroup: () => true,
  });
  const context: ReconcileContext = {
    connection: {
      ...{
        id: 'default',
        account: 'travel',
        mapping: undefined,
        policies: defaultPolicies,
        isImported: true,
      },
      ...{ parkingDomain: undefined, minimumShare: 0.5, maxImported: undefined },
      ...{ callTimeoutMs: 10_000, lateMs: 30_000, tombstoneDays: 400 },
    },
    ...{
      identity,
      rulesSnapshot,
      translation,
      baseline: undefined,
      freeEmail: undefined,
      shadowSince: undefined,
    },
    translateWith: () => translation,
    time: { now: 0, wallClock: 0, server: undefined },
  };
  const sent: JsonObject[] = [];
  const carryOut = carriedOutBy({
    readOwnUser: () => ({ kind: 'ok', value: inTravelService({ id: 'self' }) }),
    readTraveler: () => read,
    announce: () => 'done',
    admitDeparture: () => true,
    findHolder: () => undefined,
    isWaitedFor: () => false,
    patchTraveler: (_, body) => {
      sent.push(body);
      const changed = { ...inTravelService({ ...identity.observed }), ...body } as TravelUser; // No address is sent.
      return { kind: 'ok', value: changed };
    },
  });
  const { draft, end } = await run(reconcileTraveler(context), carryOut);
  return { sent, end, codes: draft.findings.map(({ code }) => code), travelId: draft.travelId };
}

test('a new person waits, without an address and without a search', async () => {
  const result = await reconcile(newIdentity(clock, { id: 'default' }, person('Ada')));
  expect(result).toEqual({
    sent: [],
    end: { kind: 'state', state: 'pending' },
    codes: ['scopeUnresolved'],
    travelId: undefined,
  });
});

test('a linked person stays, and other changes are sent', async () => {
  const result = await reconcile(linked(person('Ada', { preferredLanguage: 'fr' })));
  expect(result.sent).toEqual([expect.objectContaining({ lang: 'fr' })]);
  expect(result.sent).not.toEqual([expect.objectContaining({ archived: expect.anything() })]);
  expect(result).toMatchObject({ end: { kind: 'state', state: 'synced' }, codes: ['scopeUnresolved'] });
});

test('an archived person is not restored', async () => {
  const { sent, codes } = await reconcile(linked(person('Ada'), { archived: true }));
  expect(sent.filter((body) => 'archived' in body)).toEqual([]);
  expect(codes).toEqual(['scopeUnresolved']);
});

test('a person who is deactivated is archived', async () => {
  const { sent, codes } = await reconcile(linked(person('Ada', { active: false })));
  expect(sent).toEqual([expect.objectContaining({ archived: true })]);
  expect(codes).toEqual([]);
});

test('an imported person whom the IdP claims keeps the traveler, which is not changed', async () => {
  const imported = { ...linked(person('Ada', { preferredLanguage: 'fr' })), applied: {}, progress: {} };
  expect(await reconcile(imported)).toMatchObject({ sent: [], travelId: 't-1', codes: ['scopeUnresolved'] });
});

/** An identity with a traveler that an import had found and the bridge has never changed. A later import does not see it. */
const unseen = (): Identity => ({
  ...linked(person('Ada')),
  ...{ observed: undefined, applied: {}, progress: {} },
});

test('a person whose imported traveler was deleted waits without one', async () => {
  const result = await reconcile(unseen(), { kind: 'notFound' });
  expect(result).toMatchObject({ end: { kind: 'state', state: 'pending' }, codes: ['scopeUnresolved'] });
  expect(result).toMatchObject({ sent: [], travelId: undefined });
});

test('a person whose imported traveler is there, though an import did not see it, keeps it', async () => {
  const result = await reconcile(unseen());
  expect(result).toMatchObject({ end: { kind: 'state', state: 'synced' }, codes: ['scopeUnresolved'] });
  expect(result).toMatchObject({ sent: [], travelId: 't-1' });
});

describe('a new user, while a group that leaves its members out has not been received,', () => {
  const users = 'default';
  const scope = 'not (groups[display eq "Contractors"])';
  const otherPerson = { externalId: 'emp-8', name: { givenName: 'Xavier', familyName: 'Young' } };

  /** Runs a test with a traveler of Ada, who has left before the mapping got the scope. */
  function withLeaver(test: (fixture: ProvisioningFixture, leaver: string) => Promise<void>): Promise<void> {
    return withFixture(
      async (fixture) => {
        const { bridge, connection, travel } = fixture;
        const { id } = await bridge.users.create(users, person('Ada', { externalId: 'emp-7' }));
        await bridge.users.remove(users, id);
        connection.mapping = mappingOf({ scope });
        await fixture.restart();
        await bridge.reconcileDue();
        travel.calls.length = 0;
        await test(fixture, id);
      },
      { more: ['second'] },
    );
  }

  test('in the place of a leaver changes nothing of the leaver', () =>
    withLeaver(async (fixture, leaver) => {
      const before = await fixture.traveler(leaver);
      const { id } = await fixture.bridge.users.create(users, person('Ada', otherPerson));
      await fixture.bridge.reconcileDue();
      expect(await fixture.identity(id)).toMatchObject({ state: 'pending', travelId: undefined });
      expect(before).toMatchObject({ archived: true, email: addressOf('Ada') });
      expect(await fixture.traveler(leaver)).toEqual(before);
      expect(fixture.travel.writes()).toEqual([]);
    }));

  test('who is the leaver gets the traveler once the group is there', () =>
    withLeaver(async (fixture, leaver) => {
      const { travelId } = await fixture.identity(leaver);
      const { id } = await fixture.bridge.users.create(users, person('Ada', { externalId: 'emp-7' }));
      expect(await fixture.identity(id)).toMatchObject({ state: 'pending', travelId: undefined });
      await fixture.bridge.groups.create(users, { displayName: 'Contractors' }, []);
      while (await fixture.store.memberships.markSome(users, fixture.clock.now()));
      await fixture.bridge.reconcileDue();
      expect((await fixture.identity(id)).travelId).toBe(travelId);
      expect(await fixture.traveler(id)).toMatchObject({ archived: false });
    }));

  test('is accepted also with the address of a user of another connection', () =>
    withLeaver(async (fixture) => {
      await fixture.bridge.users.create('second', person('Bob'));
      const { id } = await fixture.bridge.users.create(users, person('Eve', emailsOf(addressOf('Bob'))));
      expect(await fixture.identity(id)).toMatchObject({ state: 'pending', creating: undefined });
    }));
});
