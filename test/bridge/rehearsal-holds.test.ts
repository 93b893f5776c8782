import type { Rehearsal } from '../../src/bridge/rehearsed.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { addressOf, type BridgeHouse, emailsOf, inHouse, person } from '../support/bridge-house.ts';
import { lookups, mappingOf } from '../translator/house.ts';

const users = 'default';
const title = { scimAttribute: 'title', customField: 'Job title' };
const upper = { ...title, transforms: [{ map: { Buyer: 'BUYER' } }] };
const roles = { allow: ['organizer'], map: { Planner: 'organizer' } };

async function rehearsed(house: BridgeHouse, mapping?: JsonObject): Promise<Rehearsal> {
  const wish = mapping ? { mapping: mappingOf(mapping), examples: 100 } : { examples: 100 };
  const outcome = await house.bridge.rehearser.run(house.connection, wish);
  if ('kind' in outcome) throw new Error(`the rehearsal failed: ${outcome.kind}`);
  return outcome;
}

/** Starts with the mapping, follows it, and answers the SCIM ids of those whose travelers were written, in order. */
async function followed(house: BridgeHouse, mapping: JsonObject): Promise<string[]> {
  house.connection.mapping = mappingOf(mapping);
  await house.restart();
  house.travel.calls.length = 0;
  await house.bridge.run().stop();
  await house.bridge.settleDue();
  const written = new Set(house.travel.writes().map(({ id }) => id));
  const { identities } = await house.store.identities.page(users, 0, 100);
  return identities.filter(({ travelId }) => written.has(travelId)).map(({ id }) => id);
}

/**
 * Everybody of whom a rehearsal must know more than the rules: held by the safety valve, discarded, guarded, the guarded one
 * who was deactivated, imported and patched, and a return that waits.
 */
async function fill(house: BridgeHouse): Promise<void> {
  const { bridge, travel, store, clock } = house;
  travel.known = lookups;
  for (const name of ['Root', 'Chief', 'Old']) {
    travel.add({ email: addressOf(name), firstName: name, roles: name === 'Old' ? [] : ['admin'] });
  }
  await house.imported();
  const idOf = async (name: string) => {
    const [one] = await store.identities.find(users, { by: 'userName', value: addressOf(name) });
    return one?.id ?? '';
  };
  const leavers: string[] = [];
  for (const name of ['Ada', 'Bob', 'Cyd', 'Dan'])
    leavers.push((await bridge.users.create(users, person(name, { title: 'Buyer' }))).id);
  const back = await bridge.users.create(users, person('Eva', { title: 'Buyer', externalId: 'e-1' }));
  await house.patch(back.id, { active: false });
  await house.patch(back.id, { active: true, externalId: 'e-2' });
  for (const id of leavers) await house.patch(id, { active: false });
  const [, , , dan = ''] = leavers;
  await store.holds.decide(users, { ids: [dan] }, 'discarded', clock.now());
  await bridge.settleDue();
  await house.patch(await idOf('Root'), { ...emailsOf('new@corp.example'), roles: [{ value: 'Planner' }] });
  await expect(house.patch(await idOf('Chief'), { active: false, title: 'Buyer' })).rejects.toMatchObject({
    kind: 'refused',
  });
  await house.patch(await idOf('Old'), { name: { givenName: 'Older', familyName: 'Smith' } });
}

const policies = {
  ...{ onReturn: 'hold' as const },
  safetyValve: { share: 0, minimum: 2, windowMs: 3_600_000 },
};

test('what waits for an admin is no change to come', () =>
  inHouse(
    async (house) => {
      await fill(house);
      const held = await house.store.holds.counts();
      expect(held.map(({ cause, count }) => `${cause} ${count}`).toSorted()).toEqual([
        'guarded 1',
        'return 1',
        'safetyValve 2',
      ]);
      expect(await rehearsed(house)).toMatchObject({ changed: 0, created: 0, pending: 0, fields: [] });
    },
    { policies, mapping: { scimUserMapping: [title], roles } },
  ));

test.each([
  ['another rule', { scimUserMapping: [upper], roles }],
  ['a rule less', { scimUserMapping: [], roles }],
  ['roles that the mapping no longer gives', { scimUserMapping: [title], roles: { allow: [] } }],
  ['a default', { scimUserMapping: [title], roles, defaults: { travelPolicy: { name: 'Standard' } } }],
])('a rehearsal of %s names those whose travelers are then written, and nobody else', (_, mapping) =>
  inHouse(
    async (house) => {
      await fill(house);
      const outcome = await rehearsed(house, mapping);
      const written = await followed(house, mapping);
      expect(outcome.examples.map(({ id }) => id).toSorted()).toEqual(written.toSorted());
      expect(outcome.changed).toBe(written.length);
      expect(await rehearsed(house)).toMatchObject({ changed: 0, fields: [] });
    },
    { policies, mapping: { scimUserMapping: [title], roles } },
  ),
);
