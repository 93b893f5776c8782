import fc from 'fast-check';
import { bases } from '../../src/bridge/basis.ts';
import { rehearser } from '../../src/bridge/rehearsal.ts';
import type { Rehearsal } from '../../src/bridge/rehearsed.ts';
import type { JsonObject, ScimResource } from '../../src/schema/resource.ts';
import { readField } from '../../src/translator/fields.ts';
import { type BridgeHouse, emailsOf, inHouse, managedBy, person } from '../support/bridge-house.ts';
import { anyMapping, anyUser } from '../translator/arbitraries.ts';
import { lookups, mappingOf } from '../translator/house.ts';

const users = 'default';
const title = { scimAttribute: 'title', customField: 'Job title' };

/** What a mapping would do; without one, what the present one still would. */
async function rehearsed(house: BridgeHouse, mapping?: JsonObject, examples = 100): Promise<Rehearsal> {
  const wish = mapping ? { mapping: mappingOf(mapping), examples } : { examples };
  const outcome = await house.bridge.rehearser.run(house.connection, wish);
  if ('kind' in outcome) throw new Error(`the rehearsal failed: ${outcome.kind}`);
  return outcome;
}

/** A new start with another mapping. */
async function startWith(house: BridgeHouse, mapping: JsonObject): Promise<void> {
  house.connection.mapping = mappingOf(mapping);
  await house.restart();
}

/** Runs the background until it has followed the rules and worked off what that made due. */
async function follow(house: BridgeHouse): Promise<void> {
  await house.bridge.run().stop();
  await house.bridge.settleDue();
}

async function everything(house: BridgeHouse): Promise<unknown> {
  const { identities } = await house.store.identities.page(users, 0, 1000);
  const references = await Promise.all(identities.map(({ id }) => house.store.references.of(users, id)));
  return { identities, references, people: [...house.travel.people.values()] };
}

function withHouse(test: (house: BridgeHouse) => Promise<void>): Promise<void> {
  return inHouse(async (house) => {
    house.travel.known = lookups;
    await test(house);
  });
}

test('tells how many people change, in which fields, and how; and does nothing', () =>
  withHouse(async (house) => {
    await startWith(house, { scimUserMapping: [title] });
    const ada = await house.bridge.users.create(users, person('Ada', { title: 'Buyer', locale: 'fr' }));
    const bob = await house.bridge.users.create(users, person('Bob', { title: 'Boss' }));
    await house.bridge.users.create(users, person('Cyd', { locale: 'de' }));
    const before = await everything(house);
    house.travel.calls.length = 0;
    const upper = { ...title, transforms: [{ map: { Buyer: 'BUYER' } }] };
    const outcome = await rehearsed(house, { scimUserMapping: [upper], language: { default: 'en' } });
    expect(outcome).toEqual({
      people: 3,
      changed: 3,
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
    expect(house.travel.calls).toEqual([]);
    expect(await everything(house)).toEqual(before);
  }));

test('a mapping that says the same changes nobody', () =>
  withHouse(async (house) => {
    await startWith(house, { scimUserMapping: [title] });
    await house.bridge.users.create(users, person('Ada', { title: 'Buyer', locale: 'de' }));
    await house.bridge.users.create(users, { userName: 'nobody' });
    const nothing = { people: 2, changed: 0, created: 0, pending: 0, fields: [], findings: [], examples: [] };
    expect(await rehearsed(house, { scimUserMapping: [{ ...title, transforms: ['trim'] }] })).toMatchObject(
      nothing,
    );
    expect(await rehearsed(house)).toMatchObject(nothing);
  }));

test('that somebody came from another connection is a finding under any mapping', () =>
  inHouse(
    async ({ bridge, connectionOf, findings }) => {
      const ada = await bridge.users.create(users, person('Ada'));
      await bridge.users.remove(users, ada.id);
      const moved = await bridge.users.create('other', person('Ada'));
      expect(await findings(moved.id, 'other')).toEqual(['*: movedFrom']);
      const outcome = await bridge.rehearser.run(connectionOf('other'), { examples: 10 });
      expect(outcome).toMatchObject({ people: 1, changed: 0, findings: [] });
    },
    { more: ['other'] },
  ));

test('a rule that is taken away gives its field up, and no call is made', () =>
  withHouse(async (house) => {
    await startWith(house, { scimUserMapping: [title] });
    await house.bridge.users.create(users, person('Ada', { title: 'Buyer' }));
    expect(await rehearsed(house, {})).toMatchObject({
      changed: 0,
      fields: [{ field: 'customFields.cf-title', set: 0, cleared: 0, again: 0, released: 1 }],
      examples: [],
    });
  }));

test('people who get a traveler at last, or none any more, are counted apart from fields', () =>
  withHouse(async (house) => {
    const { bridge, travel } = house;
    const eve = await bridge.users.create(users, { userName: 'eve', nickName: 'eve@corp.example' });
    travel.trouble = () => ({ kind: 'unavailable', text: 'down' });
    const fay = await bridge.users.create(users, person('Fay'));
    const rule = { scimAttribute: 'nickName', userAttribute: 'email' };
    const outcome = await rehearsed(house, { scimUserMapping: [{ ...rule }] });
    expect(outcome).toMatchObject({ people: 2, changed: 0, created: 1, pending: 0, fields: [] });
    expect(outcome.examples).toMatchObject([{ id: eve.id, outcome: 'created' }]);
    const broken = { scimAttribute: 'displayName', userAttribute: 'email' };
    const worse = await rehearsed(house, { scimUserMapping: [broken] });
    // The userName still serves.
    expect(worse.pending).toBe(0);
    await house.patch(fay.id, { userName: 'fay' });
    expect(await rehearsed(house, { scimUserMapping: [broken] })).toMatchObject({
      pending: 1,
      examples: [{ id: fay.id, outcome: 'pending', changes: [], comes: [{ code: 'noEmail' }] }],
    });
  }));

test('a linked person who would have no address keeps the old one', () =>
  withHouse(async (house) => {
    await house.bridge.users.create(users, { ...person('Ada'), userName: 'ada', title: 'n/a' });
    const rule = { scimAttribute: 'title', userAttribute: 'email' };
    expect(await rehearsed(house, { scimUserMapping: [rule] })).toMatchObject({
      changed: 0,
      pending: 0,
      findings: [{ field: 'email', code: 'emailInvalid', comes: 1, goes: 0 }],
    });
  }));

test('an address that another traveler has would not be sent', () =>
  withHouse(async (house) => {
    await house.bridge.users.create(users, person('Ada'));
    await house.bridge.users.create(users, person('Bob', { title: 'ada@corp.example' }));
    await house.bridge.users.create(users, person('Cyd', { title: 'free@corp.example' }));
    const rule = { scimAttribute: 'title', userAttribute: 'email' };
    const outcome = await rehearsed(house, { scimUserMapping: [rule] });
    expect(outcome.changed).toBe(1);
    expect(outcome.examples).toMatchObject([
      { userName: 'cyd@corp.example', changes: [{ field: 'email', after: 'free@corp.example' }] },
    ]);
    expect(outcome.findings).toContainEqual({ field: 'email', code: 'emailTaken', comes: 1, goes: 0 });
  }));

test('a value that the travel API refused would be sent again', () =>
  withHouse(async (house) => {
    house.travel.trouble = ({ body }) =>
      body?.lang === 'fr'
        ? { kind: 'invalid', fields: [{ field: 'lang', code: 'enum', message: 'no' }] }
        : undefined;
    await house.bridge.users.create(users, person('Ada', { locale: 'fr' }));
    expect(await rehearsed(house, { phone: { defaultCountry: 'FR' } })).toMatchObject({
      changed: 1,
      fields: [{ field: 'lang', set: 0, cleared: 0, again: 1, released: 0 }],
      examples: [{ changes: [{ field: 'lang', before: null, after: 'fr', isAgain: true }] }],
    });
  }));

test('looks at nobody whom no IdP has written, or whom one has deleted', () =>
  withHouse(async (house) => {
    house.travel.add({ email: 'old@corp.example', firstName: 'Old' });
    await house.imported();
    const gone = await house.bridge.users.create(users, person('Gone'));
    await house.bridge.users.remove(users, gone.id);
    expect(await rehearsed(house, { language: { default: 'fr' } })).toMatchObject({ people: 0, changed: 0 });
  }));

test('without a mapping, tells what the present one would still change', () =>
  withHouse(async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada', { title: 'Buyer', locale: 'de' }));
    await startWith(house, { scimUserMapping: [title], language: { default: 'fr' } });
    expect(await rehearsed(house)).toMatchObject({
      changed: 1,
      fields: [
        { field: 'customFields.cf-title', set: 1 },
        { field: 'lang', set: 1 },
      ],
      findings: [{ field: 'lang', code: 'languageUnsupported', comes: 0, goes: 1 }],
      examples: [{ id: ada.id }],
    });
    await follow(house);
    expect(await rehearsed(house)).toMatchObject({ people: 1, changed: 0, fields: [], findings: [] });
  }));

test('keeps as few examples as are wanted, whatever the number of people, and tells how far it is', () =>
  withHouse(async (house) => {
    for (let index = 0; index < 120; index++)
      await house.bridge.users.create(users, { userName: `p${index}@corp.example` });
    const heard: string[] = [];
    const outcome = await house.bridge.rehearser.run(house.connection, {
      mapping: mappingOf({ language: { default: 'fr' } }),
      examples: 2,
      onBatch: (looked, total) => heard.push(`${looked} of ${total}`),
    });
    expect(outcome).toMatchObject({ people: 120, changed: 120, examples: [{}, {}] });
    expect('examples' in outcome && outcome.examples).toHaveLength(2);
    expect(heard).toEqual(['100 of 120', '120 of 120']);
  }));

test('lets others in while it goes on', () =>
  withHouse(async (house) => {
    for (let index = 0; index < 10; index++)
      await house.bridge.users.create(users, { userName: `p${index}@corp.example` });
    // A slow machine: every look at the clock takes five milliseconds.
    let time = 0;
    const now = () => {
      time += 5;
      return time;
    };
    const slow = rehearser({ ...house.store, bases: bases(), surroundings: { now } });
    let others = 0;
    // Not for ever, should it never end.
    const other = (): void => {
      others += 1;
      if (others < 10) setImmediate(other);
    };
    setImmediate(other);
    await slow.run(house.connection, { examples: 1 });
    expect(others).toBe(10);
  }));

test('a travel API whose lookups were never read cannot be rehearsed for', () =>
  withHouse(async (house) => {
    const failure = { kind: 'unavailable', text: 'down' } as const;
    const connection = {
      ...house.connection,
      lookups: { ...house.connection.lookups, current: async () => failure },
    };
    expect(await house.bridge.rehearser.run(connection, { examples: 1 })).toEqual(failure);
  }));

/** No two with the same address: who of several gets one that becomes free, a rehearsal cannot tell. */
const anyPerson = fc.record({ user: anyUser, isManaged: fc.boolean() });

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

test('what it tells comes true', () =>
  fc.assert(
    fc.asyncProperty(fc.array(anyPerson, { maxLength: 4 }), anyMapping, anyMapping, (people, one, other) =>
      withHouse(async (house) => {
        await startWith(house, one);
        await house.bridge.users.create(users, person('Boss'));
        for (const [index, one] of people.entries())
          await house.bridge.users.create(users, desiredOf(index, one));
        await house.pass(120_000);
        const told = await rehearsed(house, other);
        await startWith(house, other);
        expect((await rehearsed(house)).examples).toEqual(told.examples);
        house.travel.calls.length = 0;
        await follow(house);
        const written = new Set<string>();
        for (const { id } of house.travel.writes()) if (id) written.add(id);
        const changed = told.examples.filter(({ outcome }) => outcome === 'changed');
        const identities = await Promise.all(told.examples.map(({ id }) => house.identity(id)));
        const ids = changed.map(({ id }) => identities.find((identity) => identity.id === id)?.travelId);
        expect([...written].toSorted()).toEqual(ids.toSorted());
        for (const { id, changes } of changed) {
          const traveler = await house.traveler(id);
          for (const { field, after } of changes)
            expect(traveler && (readField(traveler, field) ?? null)).toEqual(after);
        }
      }),
    ),
    { numRuns: 25 },
  ));
