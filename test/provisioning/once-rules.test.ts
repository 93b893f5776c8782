import { explainFields } from '../../src/provisioning/people/explain-fields.ts';
import type { Json, ScimResource } from '../../src/schema/resource.ts';
import { addressOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { mappingOf } from '../fixtures/translator.ts';

const users = 'default';
const once = { template: 'EUR', userAttribute: 'currency', apply: 'once' };
const always = { scimAttribute: 'title', userAttribute: 'gender' };
const mapping = { scimUserMapping: [once, always] };

async function currencyOf(fixture: ProvisioningFixture, id: string): Promise<string | undefined> {
  return (await fixture.traveler(id))?.currency;
}

/** Changes the currency of a traveler in the travel service, and runs an import. */
async function changeByHand(fixture: ProvisioningFixture, id: string, currency: string): Promise<void> {
  const { travelId = '' } = await fixture.identity(id);
  const now = fixture.travel.travelers.get(travelId);
  if (now) fixture.travel.travelers.set(travelId, { ...now, currency });
  await fixture.importTravelers();
}

test('a rule that applies once sets its field at the create, and leaves it alone when the IdP writes again', () =>
  withFixture(
    async (fixture) => {
      const { bridge, patch, findings, identity } = fixture;
      const ada = await bridge.users.create(users, person('Ada'));
      expect(await currencyOf(fixture, ada.id)).toBe('EUR');
      expect((await identity(ada.id)).applied).not.toHaveProperty('currency');
      expect(await standingOf(fixture, ada.id, 'currency')).toBe('once');
      await changeByHand(fixture, ada.id, 'GBP');
      expect(await standingOf(fixture, ada.id, 'currency')).toBe('once');
      expect(await findings(ada.id)).toEqual([]);
      await patch(ada.id, { title: 'female' });
      expect(await fixture.traveler(ada.id)).toMatchObject({ gender: 'female', currency: 'GBP' });
    },
    { mapping },
  ));

test('a rule that applies once sets nothing on a traveler that is linked', () =>
  withFixture(
    async (fixture) => {
      fixture.travel.addTraveler({ email: addressOf('Ida'), firstName: 'Ida' });
      const ida = await fixture.bridge.users.create(users, person('Ida', { title: 'female' }));
      expect(await fixture.traveler(ida.id)).toMatchObject({ gender: 'female' });
      expect(await currencyOf(fixture, ida.id)).toBeUndefined();
    },
    { mapping },
  ));

test.each<[string, ScimResource]>([
  ['has another value later', { title: 'USD' }],
  ['has no value later', { title: null }],
])('a rule that applies once leaves its field alone when the IdP %s', (_title, change) =>
  withFixture(
    async (fixture) => {
      const ada = await fixture.bridge.users.create(users, person('Ada', { title: 'EUR' }));
      await fixture.patch(ada.id, change);
      expect(await currencyOf(fixture, ada.id)).toBe('EUR');
    },
    { mapping: { scimUserMapping: [{ ...once, template: undefined, scimAttribute: 'title' }] } },
  ),
);

test('a field that a rule set always is released when the rule applies once, and set again when it always applies', () =>
  withFixture(
    async (fixture) => {
      const ada = await fixture.bridge.users.create(users, person('Ada', { title: 'EUR' }));
      const rule = { scimAttribute: 'title', userAttribute: 'currency' };
      await restartWith(fixture, { scimUserMapping: [{ ...rule, apply: 'once' }] });
      await fixture.patch(ada.id, { title: 'USD' });
      expect(await currencyOf(fixture, ada.id)).toBe('EUR');
      expect((await fixture.identity(ada.id)).applied).not.toHaveProperty('currency');
      await restartWith(fixture, { scimUserMapping: [rule] });
      await fixture.patch(ada.id, { title: 'GBP' });
      expect(await currencyOf(fixture, ada.id)).toBe('GBP');
    },
    { mapping: { scimUserMapping: [{ scimAttribute: 'title', userAttribute: 'currency' }] } },
  ));

async function standingOf(
  fixture: ProvisioningFixture,
  id: string,
  field: string,
): Promise<string | undefined> {
  const explained = explainFields(await fixture.identity(id));
  return explained.find((one) => one.field === field)?.standing;
}

async function restartWith(fixture: ProvisioningFixture, mapping: Json): Promise<void> {
  fixture.connection.mapping = mappingOf(mapping);
  await fixture.restart();
  await fixture.bridge.startBackground().stop();
  await fixture.bridge.reconcileDue();
  await fixture.waitForLeases();
}
