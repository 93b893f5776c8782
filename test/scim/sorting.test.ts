import { type ScimFixture, scimFixture } from '../fixtures/scim.ts';

let fixture: ScimFixture;
beforeEach(async () => {
  fixture = await scimFixture();
});
afterEach(() => fixture.close());

const users = [
  { userName: 'cem', externalId: 'b', displayName: 'élan' },
  { userName: 'ADA', externalId: 'B', displayName: 'Zoe' },
  { userName: 'bob', displayName: 'Élan' },
  { userName: 'Dia', externalId: 'a' },
];

async function populate(): Promise<void> {
  for (const user of users) await fixture.send('POST', '/Users', user);
  // The last change comes first: `dia` is now the oldest but one.
  await fixture.send('PATCH', '/Users/u1', {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path: 'title', value: 'CEO' }],
  });
}

describe('sortBy and sortOrder (RFC 7644 §3.4.2.3)', () => {
  const cases: [string, string[]][] = [
    ['sortBy=userName', ['ADA', 'bob', 'cem', 'Dia']],
    ['sortBy=USERNAME&sortOrder=Descending', ['Dia', 'cem', 'bob', 'ADA']],
    ['sortBy=urn:ietf:params:scim:schemas:core:2.0:User:userName', ['ADA', 'bob', 'cem', 'Dia']],
    ['sortBy=userName&sortOrder=upwards', ['ADA', 'bob', 'cem', 'Dia']],
    ['sortBy=id&sortOrder=descending', ['Dia', 'bob', 'ADA', 'cem']],
    // With case; without a value last, and first when descending.
    ['sortBy=externalId', ['ADA', 'Dia', 'cem', 'bob']],
    ['sortBy=externalId&sortOrder=descending', ['bob', 'cem', 'Dia', 'ADA']],
    // Without case; ties in the stable order.
    ['sortBy=displayName', ['ADA', 'cem', 'bob', 'Dia']],
    ['sortBy=displayName&sortOrder=descending', ['Dia', 'bob', 'cem', 'ADA']],
    ['sortBy=meta.created&sortOrder=descending', ['Dia', 'bob', 'ADA', 'cem']],
    ['sortBy=meta.lastModified', ['ADA', 'bob', 'Dia', 'cem']],
    // No index has these in order, so they are ignored.
    ['sortBy=title', ['cem', 'ADA', 'bob', 'Dia']],
    ['sortBy=emails.value&sortOrder=descending', ['cem', 'ADA', 'bob', 'Dia']],
    ['sortBy=nothing.of.the.kind', ['cem', 'ADA', 'bob', 'Dia']],
    ['sortBy=constructor', ['cem', 'ADA', 'bob', 'Dia']],
    ['sortBy=userName&sortBy=id', ['cem', 'ADA', 'bob', 'Dia']],
    ['sortBy=', ['cem', 'ADA', 'bob', 'Dia']],
    ['sortOrder=descending', ['cem', 'ADA', 'bob', 'Dia']],
    ['sortBy=userName&startIndex=2&count=2', ['bob', 'cem']],
    ['sortBy=userName&filter=title+pr+or+displayName+pr', ['ADA', 'bob', 'cem']],
    ['sortBy=userName&sortOrder=descending&filter=userName+eq+%22BOB%22+or+id+eq+%22u1%22', ['cem', 'bob']],
  ];
  test.each(cases)('%s', async (query, names) => {
    await populate();
    const { status, body } = await fixture.send('GET', `/Users?${query}`);
    expect(status).toBe(200);
    expect(body.Resources.map(({ userName }: { userName: string }) => userName)).toEqual(names);
  });

  test('groups by name, whatever its case', async () => {
    for (const displayName of ['b', 'C', 'a']) await fixture.send('POST', '/Groups', { displayName });
    const { body } = await fixture.send('GET', '/Groups?sortBy=displayName&sortOrder=descending');
    expect(body.Resources.map(({ displayName }: { displayName: string }) => displayName)).toEqual([
      'C',
      'b',
      'a',
    ]);
  });
});
