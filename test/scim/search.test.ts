import { type ScimHouse, scimHouse } from '../support/scim-house.ts';

let house: ScimHouse;
beforeEach(async () => {
  house = await scimHouse();
  for (const userName of ['ada', 'bob', 'cleo']) await house.send('POST', '/Users', { userName });
  for (const displayName of ['Crew', 'Desk'])
    await house.send('POST', '/Groups', { displayName, members: [{ value: 'u1' }] });
});
afterEach(() => house.close());

const schemas = ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'];
const search = (path: string, request: object) => house.send('POST', path, { schemas, ...request });
const idsIn = ({ body }: { body: { Resources: { id: string }[] } }) => body.Resources.map(({ id }) => id);

describe('a search by POST answers what the same GET answers (RFC 7644 §3.4.3)', () => {
  const searches: [string, object, string][] = [
    ['everything', {}, ''],
    ['a filter', { filter: 'id eq "u2" or id eq "g2"' }, 'filter=id+eq+%22u2%22+or+id+eq+%22g2%22'],
    ['a page', { startIndex: 2, count: 1 }, 'startIndex=2&count=1'],
    ['a page before the first', { startIndex: -3, count: 1 }, 'startIndex=-3&count=1'],
    ['numbers as text', { startIndex: '2', count: '1' }, 'startIndex=2&count=1'],
    ['a count of nothing', { count: 0 }, 'count=0'],
    ['a count below nothing', { count: -1 }, 'count=-1'],
    ['attributes', { attributes: ['userName', 'displayName'] }, 'attributes=userName,displayName'],
    ['attributes as text', { attributes: 'meta.location' }, 'attributes=meta.location'],
    ['excluded attributes', { excludedAttributes: ['meta', 'members'] }, 'excludedAttributes=meta,members'],
    ['names in another case', { FILTER: 'id eq "u1"', Count: 5 }, 'filter=id+eq+%22u1%22&count=5'],
    ['members that are unassigned', { filter: null, attributes: [] }, ''],
    ['members that nobody knows', { domain: 'x', Operations: [] }, ''],
  ];
  const cases = ['/Users', '/Groups', ''].flatMap((path) =>
    searches.map(([title, request, query]) => ({ path, title, request, query })),
  );
  test.each(cases)('$path: $title', async ({ path, request, query }) => {
    const byGet = await house.send('GET', `${path}/?${query}`);
    const byPost = await search(`${path}/.search`, request);
    expect(byPost).toMatchObject({ status: 200, body: byGet.body });
    expect(byPost.headers.get('content-type')).toBe('application/scim+json');
    expect(byPost.body.schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:ListResponse']);
  });
});

describe('what is no search is 400', () => {
  const faults: [object, string, string][] = [
    [{ schemas: undefined }, 'invalidSyntax', 'schemas'],
    [{ schemas: [] }, 'invalidSyntax', 'schemas'],
    [{ schemas: 7 }, 'invalidSyntax', 'schemas'],
    [{ schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'] }, 'invalidSyntax', 'schemas'],
    [{ filter: 7 }, 'invalidValue', 'filter'],
    [{ filter: ['id pr'] }, 'invalidValue', 'filter'],
    [{ filter: { op: 'pr' } }, 'invalidValue', 'filter'],
    [{ filter: '' }, 'invalidFilter', 'filter'],
    [{ filter: 'id eq' }, 'invalidFilter', 'filter'],
    [{ filter: 'nope eq "x"' }, 'invalidFilter', 'nope'],
    [{ startIndex: 1.5 }, 'invalidValue', 'startIndex'],
    [{ startIndex: true }, 'invalidValue', 'startIndex'],
    [{ startIndex: '1e3' }, 'invalidValue', 'startIndex'],
    [{ count: [1] }, 'invalidValue', 'count'],
    [{ count: {} }, 'invalidValue', 'count'],
    [{ count: 'all' }, 'invalidValue', 'count'],
    [{ sortBy: 1 }, 'invalidValue', 'sortBy'],
    [{ sortOrder: false }, 'invalidValue', 'sortOrder'],
    [{ cursor: 1 }, 'invalidValue', 'cursor'],
    [{ attributes: [1] }, 'invalidValue', 'attributes'],
    [{ attributes: { id: true } }, 'invalidValue', 'attributes'],
    [{ excludedAttributes: [null] }, 'invalidValue', 'excludedAttributes'],
    [{ attributes: ['id'], excludedAttributes: ['meta'] }, 'invalidValue', 'attributes'],
  ];
  test.each(faults)('%j: %s', async (request, scimType, named) => {
    for (const path of ['/Users/.search', '/Groups/.search', '/.search']) {
      const { status, body } = await search(path, request);
      expect({ path, status, body }).toMatchObject({
        status: 400,
        body: { scimType, detail: expect.stringContaining(named) },
      });
    }
  });
});

describe('the root (RFC 7644 §3.4.2.1)', () => {
  test('has users and groups as one list, users first', async () => {
    const answer = await house.send('GET', '/');
    expect(answer.body).toMatchObject({ totalResults: 5, startIndex: 1, itemsPerPage: 5 });
    expect(idsIn(answer)).toEqual(['u1', 'u2', 'u3', 'g1', 'g2']);
    expect(answer.body.Resources[4]).toMatchObject({
      displayName: 'Desk',
      members: [{ value: 'u1' }],
      meta: { resourceType: 'Group', location: 'https://bridge.example/scim/v2/Groups/g2' },
    });
    expect((await house.send('GET', '')).body).toEqual(answer.body);
  });

  test('every page is the part of that list that was asked for, its total exact', async () => {
    const all = ['u1', 'u2', 'u3', 'g1', 'g2'];
    for (let startIndex = 1; startIndex <= 7; startIndex += 1) {
      for (let count = 0; count <= 6; count += 1) {
        const answer = await search('/.search', { startIndex, count });
        const page = all.slice(startIndex - 1, startIndex - 1 + count);
        expect(idsIn(answer)).toEqual(page);
        expect(answer.body).toMatchObject({ totalResults: 5, startIndex, itemsPerPage: page.length });
      }
    }
  });

  test.each([
    ['id eq "u2" or id eq "g1"', ['u2', 'g1']],
    ['meta.resourceType eq "User"', ['u1', 'u2', 'u3']],
    ['meta.resourceType eq "Group"', ['g1', 'g2']],
    ['meta.resourceType eq "Group" and displayName sw "d"', ['g2']],
    ['meta.resourceType eq "Nothing"', []],
  ])('the filter %s finds %j', async (filter, found) => {
    const answer = await search('/.search', { filter });
    expect([idsIn(answer), answer.body.totalResults]).toEqual([found, found.length]);
    const page = await search('/.search', { filter, startIndex: 2, count: 1 });
    expect([idsIn(page), page.body.totalResults]).toEqual([found.slice(1, 2), found.length]);
  });
});
