import fc from 'fast-check';
import { explainFields } from '../../src/provisioning/people/explain-fields.ts';
import type { Json, JsonObject, ScimResource } from '../../src/schema/resource.ts';
import { readField } from '../../src/translator/traveler.ts';
import { addressOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { runs } from '../fixtures/runs.ts';
import { lookups, mappingOf, translate } from '../fixtures/translator.ts';
import { anyMapping, anyUser } from '../translator/arbitraries.ts';

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

/** The mapping with rules that apply once, as far as rules can. */
function onceOnly({ scimUserMapping, ...mapping }: JsonObject): JsonObject {
  const rules: JsonObject[] = JSON.parse(JSON.stringify(scimUserMapping ?? []));
  const isOnce = ({ userAttribute }: JsonObject) => userAttribute !== 'email' && userAttribute !== 'roles';
  return { ...mapping, scimUserMapping: rules.map((row) => (isOnce(row) ? { ...row, apply: 'once' } : row)) };
}

test('a field that rules set once stays as the create has set it, whatever the IdP writes later', () =>
  fc.assert(
    fc.asyncProperty(anyMapping, fc.array(anyUser, { minLength: 2, maxLength: 4 }), (any, written) => {
      const onceMapping = onceOnly(any);
      const [first = {}, ...later] = written.map((user) => ({ ...user, ...person('Ada'), active: true }));
      const translations = [first, ...later].map((user) => translate(user, { mapping: onceMapping }).fields);
      const keys = Object.keys(translations[0] ?? {}).filter((key) =>
        translations.every((fields) => fields[key]?.kind === 'once'),
      );
      return withFixture(
        async (fixture) => {
          fixture.travel.lookupData = lookups;
          const { id } = await fixture.bridge.users.create(users, first);
          const valuesOf = async () => {
            const traveler = await fixture.traveler(id);
            return traveler && Object.fromEntries(keys.map((key) => [key, readField(traveler, key)]));
          };
          const created = await valuesOf();
          expect(created).toBeDefined();
          for (const user of later) {
            await fixture.bridge.users.change(users, id, () => user, 'replace');
            await fixture.reconcileAfter(0);
            expect(await valuesOf()).toEqual(created);
          }
        },
        { mapping: onceMapping },
      );
    }),
    runs(50),
  ));
