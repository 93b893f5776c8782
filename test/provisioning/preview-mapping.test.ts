import fc from 'fast-check';
import {
  type MappingPreview,
  mappingPreviewer,
} from '../../src/provisioning/mapping-changes/preview-mapping.ts';
import { rulesSnapshots } from '../../src/provisioning/rules/rules-snapshots.ts';
import type { JsonObject, ScimResource } from '../../src/schema/resource.ts';
import { readField } from '../../src/translator/plan/traveler.ts';
import {
  emailsOf,
  managedBy,
  type ProvisioningFixture,
  person,
  provisioningFixture,
  withFixture,
} from '../fixtures/provisioning.ts';
import { runs } from '../fixtures/runs.ts';
import { lookups, mappingOf } from '../fixtures/translator.ts';
import { anyMapping, anyUser } from '../translator/arbitraries.ts';

const users = 'default';
const title = { scimAttribute: 'title', customField: 'Job title' };

/** Previews a mapping, or the present one if none is given. */
async function previewMapping(
  fixture: ProvisioningFixture,
  mapping?: JsonObject,
  examples = 100,
): Promise<MappingPreview> {
  const options = mapping ? { mapping: mappingOf(mapping), examples } : { examples };
  const outcome = await fixture.bridge.mappingPreviewer.run(fixture.connection, options);
  if ('kind' in outcome) throw new Error(`the preview failed: ${outcome.kind}`);
  return outcome;
}

const scope = 'not (userType eq "Service")';

test('a preview tells whom a scope would leave out, whom it would archive, and who would get a traveler without it', () =>
  withOwnFixture(async (fixture) => {
    await fixture.bridge.users.create(users, person('Ada'));
    const { id } = await fixture.bridge.users.create(users, person('Bot', { userType: 'Service' }));
    expect(await previewMapping(fixture, { scope })).toMatchObject({
      ...{ people: 2, changed: 0, outOfScope: 1, fields: [] },
      findings: [{ field: '*', code: 'outOfScope', comes: 1, goes: 0 }],
      examples: [{ id, outcome: 'outOfScope' }],
    });
    expect(await previewMapping(fixture, { scope, outOfScope: 'archive' })).toMatchObject({
      ...{ changed: 1, outOfScope: 0 },
      fields: [{ field: 'archived', set: 1 }],
      findings: [{ code: 'outOfScope', comes: 1 }],
      examples: [{ id, outcome: 'changed', changes: [{ field: 'archived', before: false, after: true }] }],
    });
    await startWith(fixture, { scope });
    const svc = await fixture.bridge.users.create(users, person('Svc', { userType: 'Service' }));
    expect(await previewMapping(fixture, {})).toMatchObject({
      ...{ people: 3, changed: 0, created: 1, pending: 0, outOfScope: 0 },
      findings: [{ code: 'outOfScope', comes: 0, goes: 2 }],
      examples: [{ id: svc.id, outcome: 'created' }],
    });
    // Bot has not been reconciled with the new mapping yet.
    expect(await previewMapping(fixture)).toMatchObject({ changed: 0, created: 0, outOfScope: 1 });
  }));

/** Restarts the service with another mapping. */
async function startWith(fixture: ProvisioningFixture, mapping: JsonObject): Promise<void> {
  fixture.connection.mapping = mappingOf(mapping);
  await fixture.restart();
}

/** Runs the background loops until they have applied the rules, and reconciles what became due. */
async function applyRules(fixture: ProvisioningFixture): Promise<void> {
  await fixture.bridge.startBackground().stop();
  await fixture.bridge.reconcileDue();
}

async function readEverything(fixture: ProvisioningFixture): Promise<unknown> {
  const { identities } = await fixture.store.identities.findPage(users, 0, 1000);
  const references = await Promise.all(
    identities.map(({ id }) => fixture.store.references.findRows(users, id)),
  );
  return { identities, references, people: [...fixture.travel.travelers.values()] };
}

function withOwnFixture(test: (fixture: ProvisioningFixture) => Promise<void>): Promise<void> {
  return withFixture(async (fixture) => {
    fixture.travel.lookupData = lookups;
    await test(fixture);
  });
}

test('a preview counts how many people would change, in which fields and how, and writes nothing', () =>
  withOwnFixture(async (fixture) => {
    await startWith(fixture, { scimUserMapping: [title] });
    const ada = await fixture.bridge.users.create(users, person('Ada', { title: 'Buyer', locale: 'fr' }));
    const bob = await fixture.bridge.users.create(users, person('Bob', { title: 'Boss' }));
    await fixture.bridge.users.create(users, person('Cyd', { locale: 'de' }));
    const before = await readEverything(fixture);
    fixture.travel.calls.length = 0;
    const upper = { ...title, transforms: [{ map: { Buyer: 'BUYER' } }] };
    const outcome = await previewMapping(fixture, { scimUserMapping: [upper], language: { default: 'en' } });
    expect(outcome).toEqual({
      people: 3,
      changed: 3,
      affected: 3,
      outOfScope: 0,
      created: 0,
      pending: 0,
      fields: [
        { field: 'customFields.cf-title', set: 1, cleared: 1, again: 0, released: 0 },
        { field: 'lang', set: 2, cleared: 0, again: 0, released: 0 },
      ],
      findings: [
        { field: 'customFields.cf-title', code: 'transformFailed', comes: 1, goes: 0 },
        { field: 'lang', code: 'languageUnsupported', comes: 0, goes: 1 },
      ],
      examples: [
        {
          id: ada.id,
          userName: 'ada@corp.example',
          outcome: 'changed',
          changes: [
            {
              field: 'customFields.cf-title',
              before: [{ data: 'Buyer' }],
              after: [{ data: 'BUYER' }],
              isAgain: false,
            },
          ],
          comes: [],
          goes: [],
        },
        expect.objectContaining({
          id: bob.id,
          changes: expect.arrayContaining([
            { field: 'customFields.cf-title', before: [{ data: 'Boss' }], after: null, isAgain: false },
            { field: 'lang', before: null, after: 'en', isAgain: false },
          ]),
          comes: [expect.objectContaining({ code: 'transformFailed', value: 'Boss' })],
        }),
        expect.objectContaining({ userName: 'cyd@corp.example' }),
      ],
      names: expect.objectContaining({ 'customFields.cf-title': 'Job title' }),
    });
    expect(fixture.travel.calls).toEqual([]);
    expect(await readEverything(fixture)).toEqual(before);
  }));

test('a preview of a mapping with the same meaning reports no change', () =>
  withOwnFixture(async (fixture) => {
    await startWith(fixture, { scimUserMapping: [title] });
    await fixture.bridge.users.create(users, person('Ada', { title: 'Buyer', locale: 'de' }));
    await fixture.bridge.users.create(users, { userName: 'nobody' });
    const nothing = { people: 2, changed: 0, created: 0, pending: 0, fields: [], findings: [], examples: [] };
    expect(
      await previewMapping(fixture, { scimUserMapping: [{ ...title, transforms: ['trim'] }] }),
    ).toMatchObject(nothing);
    expect(await previewMapping(fixture)).toMatchObject(nothing);
  }));

test('the finding that a user came from another connection appears under every mapping', () =>
  withFixture(
    async ({ bridge, connectionOf, findings }) => {
      const ada = await bridge.users.create(users, person('Ada'));
      await bridge.users.remove(users, ada.id);
      const moved = await bridge.users.create('other', person('Ada'));
      expect(await findings(moved.id, 'other')).toEqual(['*: movedFrom']);
      const outcome = await bridge.mappingPreviewer.run(connectionOf('other'), { examples: 10 });
      expect(outcome).toMatchObject({ people: 1, changed: 0, findings: [] });
    },
    { more: ['other'] },
  ));

test('a removed rule ends the ownership of its field without a call', () =>
  withOwnFixture(async (fixture) => {
    await startWith(fixture, { scimUserMapping: [title] });
    await fixture.bridge.users.create(users, person('Ada', { title: 'Buyer' }));
    expect(await previewMapping(fixture, {})).toMatchObject({
      changed: 0,
      fields: [{ field: 'customFields.cf-title', set: 0, cleared: 0, again: 0, released: 1 }],
      examples: [],
    });
  }));

test('a preview counts people who would get a traveler, or would no longer get one, apart from changed fields', () =>
  withOwnFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    const eve = await bridge.users.create(users, { userName: 'eve', nickName: 'eve@corp.example' });
    travel.faultFor = () => ({ kind: 'unavailable', text: 'down' });
    const fay = await bridge.users.create(users, person('Fay'));
    const rule = { scimAttribute: 'nickName', userAttribute: 'email' };
    const outcome = await previewMapping(fixture, { scimUserMapping: [{ ...rule }] });
    expect(outcome).toMatchObject({ people: 2, changed: 0, created: 1, pending: 0, fields: [] });
    expect(outcome.examples).toMatchObject([{ id: eve.id, outcome: 'created' }]);
    const broken = { scimAttribute: 'displayName', userAttribute: 'email' };
    const worse = await previewMapping(fixture, { scimUserMapping: [broken] });
    // The userName still serves as the email address.
    expect(worse.pending).toBe(0);
    await fixture.patch(fay.id, { userName: 'fay' });
    expect(await previewMapping(fixture, { scimUserMapping: [broken] })).toMatchObject({
      pending: 1,
      examples: [{ id: fay.id, outcome: 'pending', changes: [], comes: [{ code: 'noEmail' }] }],
    });
  }));

test('a linked person who would have no email address keeps the old one', () =>
  withOwnFixture(async (fixture) => {
    await fixture.bridge.users.create(users, { ...person('Ada'), userName: 'ada', title: 'n/a' });
    const rule = { scimAttribute: 'title', userAttribute: 'email' };
    expect(await previewMapping(fixture, { scimUserMapping: [rule] })).toMatchObject({
      changed: 0,
      pending: 0,
      findings: [{ field: 'email', code: 'emailInvalid', comes: 1, goes: 0 }],
    });
  }));

test('the preview does not send an email address that another traveler has', () =>
  withOwnFixture(async (fixture) => {
    await fixture.bridge.users.create(users, person('Ada'));
    await fixture.bridge.users.create(users, person('Bob', { title: 'ada@corp.example' }));
    await fixture.bridge.users.create(users, person('Cyd', { title: 'free@corp.example' }));
    const rule = { scimAttribute: 'title', userAttribute: 'email' };
    const outcome = await previewMapping(fixture, { scimUserMapping: [rule] });
    expect(outcome.changed).toBe(1);
    expect(outcome.examples).toMatchObject([
      { userName: 'cyd@corp.example', changes: [{ field: 'email', after: 'free@corp.example' }] },
    ]);
    expect(outcome.findings).toContainEqual({ field: 'email', code: 'emailTaken', comes: 1, goes: 0 });
  }));

test('the preview sends a value again that the travel API refused before', () =>
  withOwnFixture(async (fixture) => {
    fixture.travel.faultFor = ({ body }) =>
      body?.lang === 'fr'
        ? { kind: 'invalid', fields: [{ field: 'lang', code: 'enum', message: 'no' }] }
        : undefined;
    await fixture.bridge.users.create(users, person('Ada', { locale: 'fr' }));
    expect(await previewMapping(fixture, { phone: { defaultCountry: 'FR' } })).toMatchObject({
      changed: 1,
      fields: [{ field: 'lang', set: 0, cleared: 0, again: 1, released: 0 }],
      examples: [{ changes: [{ field: 'lang', before: null, after: 'fr', isAgain: true }] }],
    });
  }));

test('a preview skips people whom no IdP has written, and deleted ones', () =>
  withOwnFixture(async (fixture) => {
    fixture.travel.addTraveler({ email: 'old@corp.example', firstName: 'Old' });
    await fixture.importTravelers();
    const deleted = await fixture.bridge.users.create(users, person('Gone'));
    await fixture.bridge.users.remove(users, deleted.id);
    expect(await previewMapping(fixture, { language: { default: 'fr' } })).toMatchObject({
      people: 0,
      changed: 0,
    });
  }));

test('a preview without a mapping reports what the present one would still change', () =>
  withOwnFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada', { title: 'Buyer', locale: 'de' }));
    await startWith(fixture, { scimUserMapping: [title], language: { default: 'fr' } });
    expect(await previewMapping(fixture)).toMatchObject({
      changed: 1,
      fields: [
        { field: 'customFields.cf-title', set: 1 },
        { field: 'lang', set: 1 },
      ],
      findings: [{ field: 'lang', code: 'languageUnsupported', comes: 0, goes: 1 }],
      examples: [{ id: ada.id }],
    });
    await applyRules(fixture);
    expect(await previewMapping(fixture)).toMatchObject({ people: 1, changed: 0, fields: [], findings: [] });
  }));

describe('of 104 people', () => {
  const mapping = mappingOf({ language: { default: 'fr' } });
  let fixture: ProvisioningFixture;
  beforeAll(async () => {
    fixture = await provisioningFixture();
    fixture.travel.lookupData = lookups;
    for (let index = 0; index < 104; index++)
      await fixture.bridge.users.create(users, { userName: `p${index}@corp.example` });
  });
  afterAll(() => fixture.close());

  test('a preview keeps the wanted number of examples and reports its progress', async () => {
    const heard: string[] = [];
    const outcome = await fixture.bridge.mappingPreviewer.run(fixture.connection, {
      ...{ mapping, examples: 2 },
      onBatch: (looked, total) => heard.push(`${looked} of ${total}`),
    });
    expect(outcome).toMatchObject({ people: 104, changed: 104, examples: [{}, {}] });
    expect('examples' in outcome && outcome.examples).toHaveLength(2);
    expect(heard).toEqual(['100 of 104', '104 of 104']);
  });

  test('a preview that must end early says so, and has looked at the first people only', async () => {
    const run = (isOver: () => boolean) =>
      fixture.bridge.mappingPreviewer.run(fixture.connection, { mapping, examples: 1, isOver });
    expect(await run(() => true)).toMatchObject({ people: 100, changed: 100, isCut: true });
    const whole = await run(() => false);
    expect(whole).toMatchObject({ people: 104, changed: 104 });
    expect(whole).not.toHaveProperty('isCut');
  });
});

test('a preview yields to other requests', () =>
  withOwnFixture(async (fixture) => {
    for (let index = 0; index < 10; index++)
      await fixture.bridge.users.create(users, { userName: `p${index}@corp.example` });
    // Simulates a slow machine: the clock advances by five milliseconds at each reading.
    let time = 0;
    const now = () => {
      time += 5;
      return time;
    };
    const log = { info: () => {}, warn: () => {} };
    const {
      store: { rules },
      connectionOf: configuredMappingOf,
    } = fixture;
    const snapshots = rulesSnapshots({ rules, runtime: { now, log }, configuredMappingOf });
    const slow = mappingPreviewer({ ...fixture.store, rulesSnapshots: snapshots, runtime: { now } });
    let unchanged = 0;
    // The limit ends the test even if the preview never ends.
    const other = (): void => {
      unchanged += 1;
      if (unchanged < 10) setImmediate(other);
    };
    setImmediate(other);
    await slow.run(fixture.connection, { examples: 1 });
    expect(unchanged).toBe(10);
  }));

test('a preview fails if the lookups of the travel API were never read', () =>
  withOwnFixture(async (fixture) => {
    const failure = { kind: 'unavailable', text: 'down' } as const;
    const connection = {
      ...fixture.connection,
      lookups: { ...fixture.connection.lookups, current: async () => failure },
    };
    expect(await fixture.bridge.mappingPreviewer.run(connection, { examples: 1 })).toEqual(failure);
  }));

const anyPerson = fc.record({ user: anyUser, isManaged: fc.boolean() });

/** No two people are stated with the same email address. */
function desiredOf(
  index: number,
  { user, isManaged }: { user: ScimResource; isManaged: boolean },
): ScimResource {
  return {
    ...JSON.parse(JSON.stringify(user)),
    ...emailsOf(`p${index}@corp.example`),
    ...(isManaged ? managedBy('boss@corp.example') : {}),
    userName: `p${index}${index % 2 ? '' : '@x.example'}`,
    active: true,
  };
}

/** True if rules give one address to several people: which of them gets it, a preview cannot predict. */
function givesAddressTwice({ examples }: MappingPreview): boolean {
  const addresses = examples.flatMap(({ changes }) =>
    changes.filter(({ field, after }) => field === 'email' && after).map(({ after }) => String(after)),
  );
  return new Set(addresses).size < addresses.length;
}

test('the prediction of a preview comes true', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(anyPerson, { maxLength: 4 }),
      anyMapping,
      anyMapping,
      (people, currentMapping, nextMapping) =>
        withOwnFixture(async (fixture) => {
          await startWith(fixture, currentMapping);
          await fixture.bridge.users.create(
            users,
            person('Boss', { title: 'Sales', roles: [{ value: 'guest' }] }),
          );
          for (const [index, randomPerson] of people.entries())
            await fixture.bridge.users.create(users, desiredOf(index, randomPerson));
          await fixture.reconcileAfter(120_000);
          const predicted = await previewMapping(fixture, nextMapping);
          fc.pre(!givesAddressTwice(predicted));
          await startWith(fixture, nextMapping);
          expect((await previewMapping(fixture)).examples).toEqual(predicted.examples);
          fixture.travel.calls.length = 0;
          await applyRules(fixture);
          const written = new Set<string>();
          for (const { id } of fixture.travel.writes()) if (id) written.add(id);
          const changed = predicted.examples.filter(({ outcome }) => outcome === 'changed');
          const identities = await Promise.all(predicted.examples.map(({ id }) => fixture.identity(id)));
          const ids = changed.map(({ id }) => identities.find((identity) => identity.id === id)?.travelId);
          expect([...written].toSorted()).toEqual(ids.toSorted());
          for (const { id, changes } of changed) {
            const traveler = await fixture.traveler(id);
            for (const { field, after } of changes)
              expect(traveler && (readField(traveler, field) ?? null)).toEqual(after);
          }
        }),
    ),
    runs(10),
  ));
