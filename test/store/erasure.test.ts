import fc from 'fast-check';
import { nameMatcher, redactNames, withoutManagers } from '../../src/store/erasure/names.ts';
import { findErasedTravelers, recordErasedTraveler } from '../../src/store/identities/erased-travelers.ts';
import { travelStore } from '../../src/store/travel/travel-writes.ts';
import { indexKeys } from '../../src/travel/declaration/resource.ts';
import { user } from '../../src/travel/resources/user.ts';
import { textsInDatabase } from '../fixtures/database-texts.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

const ada = nameMatcher({
  unique: ['ada@corp.example', '7d4e7f0a-52b1'],
  whole: ['ada', 'Ada Lovelace', '42'],
});

describe('the name matcher of a person', () => {
  test.each([
    ['ADA@corp.example', true],
    ['mailto:ada@corp.example', true],
    ['https://idp.example/Users/7d4e7f0a-52b1', true],
    ['Ada', true],
    ['ada lovelace', true],
    ['42', true],
    ['xada@corp.example', false],
    ['mc.ada@corp.example', false],
    ['ada@corp.example.org', false],
    ['7d4e7f0a-52b12', false],
    ['ada king', false],
    ['142', false],
  ])('%j names the person: %p', (value, expected) => {
    expect(ada.matchesValue(value)).toBe(expected);
  });

  test.each([
    ['{"email":"Ada@Corp.example"}', true],
    ['{"email":"\\u0061da@corp.example"}', true],
    ['{"note":"\\nada@corp.example"}', true],
    ['{"list":[{"deep":["7D4E7F0A-52B1"]}]}', true],
    ['{"ada@corp.example":1}', true],
    ['{"cut":"\\tada@corp.example', true],
    ['{"name":"ada lovelace"}', true],
    ['{"path":"members[value eq \\"42\\"]"}', true],
    ['/scim/v2/Users?filter=userName eq "ada"', true],
    ['/scim/v2/Users/ada', true],
    ['/scim/v2/Users?count=42', false],
    ['{"size":42,"name":"adam"}', false],
    ['{"note":"for ada"}', false],
    ['', false],
  ])('the text %j has a name of the person: %p', (text, expected) => {
    expect(ada.matchesText(text)).toBe(expected);
  });

  test('no text of a redacted value names the person, and nothing else is changed', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom('ada@corp.example', 'Ada', 'x ada@corp.example y'),
        (other, name) => {
          const value = JSON.parse(JSON.stringify({ other, name, list: [name, other] }));
          const after = redactNames(value, ada.matchesValue);
          const isNamed = (json: unknown): boolean =>
            typeof json === 'string' ? ada.matchesValue(json) : Object.values(Object(json)).some(isNamed);
          expect(isNamed(after)).toBe(false);
          if (!isNamed(other))
            expect(after).toEqual({ other: value.other, name: 'erased', list: ['erased', value.other] });
        },
      ),
    );
  });

  test('a reference to the person is removed as a whole, and one to somebody else stays', () => {
    const reference = (value: object) => withoutManagers({ manager: value } as never, ada.matchesValue);
    expect(reference({ value: 'ada@corp.example', displayName: 'Ada Lovelace' })).toEqual({});
    expect(reference({ value: 'm1', displayName: 'Ada King' })).toEqual({
      manager: { value: 'm1', displayName: 'Ada King' },
    });
  });
});

test('the address of a resource that is deleted from a long list stays in no file', async () => {
  const place = temporaryFolder();
  const database = await openTestDatabase(place.path, true);
  const store = travelStore(database);
  const address = (number: number) => `zqperson-${String(number).padStart(5, '0')}@corp.example`;
  const resource = (number: number) => ({
    ...{ type: 'user', id: `u${number}`, parentId: '', createdAt: 0 },
    doc: { email: address(number), archived: false, separateIcsEmails: false },
  });
  await store.write(['user'], async (within) => {
    for (let number = 1; number <= 2_560; number += 1)
      await within.insert(resource(number), indexKeys(user, resource(number)));
  });
  await store.write(['user'], (within) => within.remove(resource(512), indexKeys(user, resource(512))));
  const page = await store.page({
    ...{ type: 'user', parentId: '', sortBy: 'email', order: 'asc' as const },
    ...{ offset: 2_100, limit: 1 },
  });
  expect(page.resources.map(({ id }) => id)).toEqual(['u2102']);
  await database.emptyLog();
  await database.close();
  expect(await textsInDatabase(place.path, new RegExp(address(512).replaceAll('.', '\\.')))).toEqual([]);
  place.remove();
});

test('the traveler of an erased person is known by its id, in its account only', async () => {
  const place = temporaryFolder();
  const database = await openTestDatabase(place.path);
  const { db } = database;
  const find = (account: string) => findErasedTravelers(db, account, ['t-1', 't-2']);
  expect(await find('corp')).toEqual(new Set());
  for (const travelId of ['t-2', 't-2'])
    await recordErasedTraveler(db, { account: 'corp', travelId, now: 1 });
  expect(await find('corp')).toEqual(new Set(['t-2']));
  expect(await find('other')).toEqual(new Set());
  await database.close();
  place.remove();
});
