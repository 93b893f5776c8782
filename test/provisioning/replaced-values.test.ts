import type { TravelUser } from '../../src/model/traveler.ts';
import { findReplacedSince, findVersion } from '../../src/provisioning/rules/mapping-versions.ts';
import type { Json } from '../../src/schema/resource.ts';
import { addressOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { mappingOf } from '../fixtures/translator.ts';

const users = 'default';
const plain = { scimUserMapping: [] };
const seat = { id: 'cf-1', name: 'Seat', dataType: 'text', disabled: false, options: [] };

/** A field of a traveler, and how a rule names it. */
interface Place {
  name: string;
  target: object;
  read(traveler: TravelUser | undefined): string | undefined;
  write(value: string | undefined): Partial<TravelUser>;
}

const places: Place[] = [
  {
    name: 'a custom field',
    target: { customFieldId: 'cf-1' },
    read: (traveler) => traveler?.customFields?.[0]?.values[0]?.data,
    write: (data) => (data ? { customFields: [{ customFieldId: 'cf-1', values: [{ data }] }] } : {}),
  },
  {
    name: 'a field with a default rule',
    target: { userAttribute: 'currency' },
    read: (traveler) => traveler?.currency,
    write: (currency) => (currency ? { currency } : {}),
  },
];

/** Ida, whom an admin of the travel service has given a value, and who is linked under a mapping that does not set it. */
interface Ida {
  id: string;
  fixture: ProvisioningFixture;
  now(): string | undefined;
  /** Puts a mapping in force, and brings everybody up to date. With `values`, what was replaced since the first mapping is put back. */
  apply(mapping: Json, values?: 'values'): Promise<void>;
  /** Changes the value in the travel service, and runs an import. */
  enter(value: string): Promise<void>;
  patch(values: Record<string, Json>): Promise<void>;
  rule(source: object): { scimUserMapping: Json[] };
}

function withIda(
  { target, read, write }: Place,
  entered: string | undefined,
  test: (ida: Ida) => Promise<void>,
) {
  return withFixture(async (fixture) => {
    const { bridge, store, travel } = fixture;
    travel.lookupData = { ...travel.lookupData, customFields: [seat] };
    const traveler = travel.addTraveler({ email: addressOf('Ida'), firstName: 'Ida', ...write(entered) });
    const apply: Ida['apply'] = async (mapping, values) => {
      const version = await findVersion(store.rules, users);
      const putBackSince = values ? await findReplacedSince(store.rules, users, 1) : undefined;
      await bridge.applyMapping(fixture.connection, {
        ...{ mapping: mappingOf(mapping), expected: version?.generation ?? 0 },
        ...{ source: 'page', author: 'ada', putBackSince },
      });
      await fixture.bridge.startBackground().stop();
      await fixture.bridge.reconcileDue();
      await fixture.waitForLeases();
    };
    await apply(plain);
    const { id } = await fixture.bridge.users.create(users, person('Ida'));
    const ida: Ida = {
      ...{ fixture, id, apply, now: () => read(travel.travelers.get(traveler.id)) },
      enter: async (value) => {
        const { currency: _, customFields: __, ...rest } = travel.travelers.get(traveler.id) ?? traveler;
        travel.travelers.set(traveler.id, { ...rest, ...write(value) });
        await fixture.importTravelers();
      },
      patch: (values) => fixture.patch(id, values),
      rule: (source) => ({ scimUserMapping: [{ ...source, ...target }] }),
    };
    expect(ida.now()).toBe(entered);
    await test(ida);
  });
}

const eur = { template: 'EUR' };

describe.each(places)('$name', (place) => {
  test.each([['GBP'], [undefined]])(
    'a restore with values puts %s back, and leaves it alone afterwards',
    (entered) =>
      withIda(place, entered, async ({ fixture, apply, now, rule, patch }) => {
        await apply(rule(eur));
        expect(now()).toBe('EUR');
        await apply(plain, 'values');
        expect(now()).toBe(entered);
        fixture.travel.calls.length = 0;
        await patch({ nickName: 'Boss' });
        expect([now(), fixture.travel.writes()]).toEqual([entered, []]);
      }),
  );

  test('a value that somebody enters while the later mapping is in force stays', () =>
    withIda(place, 'GBP', async ({ apply, now, rule, enter }) => {
      await apply(rule(eur));
      await enter('CHF');
      await apply(plain, 'values');
      expect(now()).toBe('CHF');
    }));

  test('a field that was given up keeps its value', () =>
    withIda(place, 'GBP', async ({ apply, now, rule }) => {
      await apply(rule(eur));
      await apply(plain);
      const kept = now();
      await apply(plain, 'values');
      expect(now()).toBe(kept);
    }));

  test('a rule of the restored mapping decides its field', () =>
    withIda(place, 'GBP', async ({ apply, now, rule }) => {
      await apply(rule(eur));
      await apply(rule({ template: 'USD' }), 'values');
      expect(now()).toBe('USD');
    }));

  test('a call whose answer is lost does not lose the value', () =>
    withIda(place, 'GBP', async ({ fixture, id, apply, now, rule }) => {
      for (const [mapping, values] of [
        [rule(eur), undefined],
        [plain, 'values'],
      ] as const) {
        fixture.travel.faultFor = ({ verb }) => (verb === 'patch' ? 'lose' : undefined);
        await apply(mapping, values);
        expect((await fixture.identity(id)).state).toBe('dirty');
        fixture.travel.faultFor = () => undefined;
        await fixture.reconcileAfter(3_600_000);
      }
      expect(now()).toBe('GBP');
    }));

  test('a value that the travel API refuses is not sent again and again', () =>
    withIda(place, 'GBP', async ({ fixture, id, apply, now, rule }) => {
      await apply(rule(eur));
      fixture.travel.calls.length = 0;
      fixture.travel.faultFor = ({ verb }) =>
        verb === 'patch'
          ? { kind: 'invalid', fields: [{ field: 'currency', code: 'invalid', message: 'unknown' }] }
          : undefined;
      await apply(plain, 'values');
      await fixture.reconcileAfter(60_000);
      expect([now(), fixture.travel.writes().length]).toEqual(['EUR', 1]);
      const refused = await fixture.identity(id);
      expect([refused.state, refused.findings.map(({ code }) => code)]).toEqual([
        'refused',
        ['refusedByTravelApi'],
      ]);
      await fixture.patch(id, { nickName: 'Boss' });
      expect((await fixture.identity(id)).findings).toEqual(refused.findings);
    }));

  test('a preview tells what is put back, and changes nothing', () =>
    withIda(place, 'GBP', async ({ fixture: { bridge, store, connection }, apply, now, rule }) => {
      await apply(rule(eur));
      const putBackSince = await findReplacedSince(store.rules, users, 1);
      const preview = await bridge.mappingPreviewer.run(connection, {
        ...{ mapping: mappingOf(plain), putBackSince, examples: 1 },
      });
      expect(preview).toMatchObject({ changed: 1, fields: [{ set: 1, cleared: 0, released: 1 }] });
      const [change] = 'kind' in preview ? [] : (preview.examples[0]?.changes ?? []);
      expect(JSON.stringify([change?.before, change?.after])).toMatch(/EUR.*GBP/);
      expect(now()).toBe('EUR');
    }));
});

test('a traveler that the bridge has created keeps the value', async () => {
  const [place] = places;
  if (!place) throw new Error('there is no place');
  await withIda(place, 'GBP', async ({ fixture: { bridge, travel }, apply, rule }) => {
    await apply(rule(eur));
    await bridge.users.create(users, person('Ada'));
    await apply(plain, 'values');
    const ada = [...travel.travelers.values()].find(({ email }) => email === addressOf('Ada'));
    expect(place.read(ada)).toBe('EUR');
  });
});
