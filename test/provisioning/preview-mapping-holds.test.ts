import type { MappingPreview } from '../../src/provisioning/mapping-changes/preview-mapping.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import {
  addressOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';
import { saveDecision } from '../fixtures/save-decision.ts';
import { lookups, mappingOf } from '../fixtures/translator.ts';

const users = 'default';
const title = { scimAttribute: 'title', customField: 'Job title' };
const upper = { ...title, transforms: [{ map: { Buyer: 'BUYER' } }] };
const roles = { allow: ['organizer'], map: { Planner: 'organizer' } };

async function previewMapping(fixture: ProvisioningFixture, mapping?: JsonObject): Promise<MappingPreview> {
  const options = mapping ? { mapping: mappingOf(mapping), examples: 100 } : { examples: 100 };
  const outcome = await fixture.bridge.mappingPreviewer.run(fixture.connection, options);
  if ('kind' in outcome) throw new Error(`the preview failed: ${outcome.kind}`);
  return outcome;
}

/** Restarts with the mapping, applies it, and returns the SCIM ids of the people whose travelers were written, in order. */
async function restartAndReconcile(fixture: ProvisioningFixture, mapping: JsonObject): Promise<string[]> {
  fixture.connection.mapping = mappingOf(mapping);
  await fixture.restart();
  fixture.travel.calls.length = 0;
  await fixture.bridge.startBackground().stop();
  await fixture.bridge.reconcileDue();
  const written = new Set(fixture.travel.writes().map(({ id }) => id));
  const { identities } = await fixture.store.identities.findPage(users, 0, 100);
  return identities.filter(({ travelId }) => written.has(travelId)).map(({ id }) => id);
}

/**
 * Creates people whose preview depends on more than the rules: one held by the safety valve, one discarded, one guarded, one
 * guarded and deactivated, one imported and patched, and one in the place of a leaver.
 */
async function createPeople(fixture: ProvisioningFixture): Promise<void> {
  const { bridge, travel, store, clock } = fixture;
  travel.lookupData = lookups;
  for (const name of ['Root', 'Chief', 'Old']) {
    travel.addTraveler({ email: addressOf(name), firstName: name, roles: name === 'Old' ? [] : ['admin'] });
  }
  await fixture.importTravelers();
  const idOf = async (name: string) => {
    const [identity] = await store.identities.find(users, { by: 'userName', value: addressOf(name) });
    return identity?.id ?? '';
  };
  const leavers: string[] = [];
  for (const name of ['Ada', 'Bob', 'Cyd', 'Dan'])
    leavers.push((await bridge.users.create(users, person(name, { title: 'Buyer' }))).id);
  const back = await bridge.users.create(users, person('Eva', { title: 'Buyer', externalId: 'e-1' }));
  await fixture.patch(back.id, { active: false });
  await fixture.patch(back.id, {
    active: true,
    externalId: 'e-2',
    name: { givenName: 'Mia', familyName: 'Smith' },
  });
  for (const id of leavers) await fixture.patch(id, { active: false });
  const [, , , dan = ''] = leavers;
  await saveDecision(store, users, { ids: [dan] }, 'discarded', clock.now());
  await bridge.reconcileDue();
  await fixture.patch(await idOf('Root'), { ...emailsOf('new@corp.example'), roles: [{ value: 'Planner' }] });
  await expect(fixture.patch(await idOf('Chief'), { active: false, title: 'Buyer' })).rejects.toMatchObject({
    kind: 'refused',
  });
  await fixture.patch(await idOf('Old'), { name: { givenName: 'Older', familyName: 'Smith' } });
}

const policies = {
  safetyValve: { share: 0, minimum: 2, windowMs: 3_600_000 },
};

test('a preview does not count held changes', () =>
  withFixture(
    async (fixture) => {
      await createPeople(fixture);
      const counts = await fixture.store.holds.countHolds();
      expect(counts.map(({ cause, count }) => `${cause} ${count}`).toSorted()).toEqual([
        'guarded 1',
        'safetyValve 2',
      ]);
      expect(await previewMapping(fixture)).toMatchObject({ changed: 0, created: 0, pending: 0, fields: [] });
    },
    { policies, mapping: { scimUserMapping: [title], roles } },
  ));

test.each([
  ['another rule', { scimUserMapping: [upper], roles }],
  ['a rule less', { scimUserMapping: [], roles }],
  ['roles that the mapping no longer gives', { scimUserMapping: [title], roles: { allow: [] } }],
  ['a default', { scimUserMapping: [title], roles, defaults: { travelPolicy: { name: 'Standard' } } }],
])('a preview of %s names exactly the people whose travelers are written afterwards', (_, mapping) =>
  withFixture(
    async (fixture) => {
      await createPeople(fixture);
      const outcome = await previewMapping(fixture, mapping);
      const written = await restartAndReconcile(fixture, mapping);
      expect(outcome.examples.map(({ id }) => id).toSorted()).toEqual(written.toSorted());
      expect(outcome.changed).toBe(written.length);
      expect(await previewMapping(fixture)).toMatchObject({ changed: 0, fields: [] });
    },
    { policies, mapping: { scimUserMapping: [title], roles } },
  ),
);
