import { type ScimFixture, scimFixture } from '../fixtures/scim.ts';

let fixture: ScimFixture;
beforeAll(async () => {
  fixture = await scimFixture();
  for (const userName of ['ada', 'bob', 'cleo']) await fixture.send('POST', '/Users', { userName });
  for (const displayName of ['Crew', 'Desk'])
    await fixture.send('POST', '/Groups', { displayName, members: [{ value: 'u1' }] });
});
afterAll(() => fixture.close());

const schemas = ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'];
const search = (path: string, request: object) => fixture.send('POST', path, { schemas, ...request });
const idsIn = ({ body }: { body: { Resources: { id: string }[] } }) => body.Resources.map(({ id }) => id);

describe('a search by POST has the response of the same GET (RFC 7644 §3.4.3)', () => {
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
    ['unknown members', { domain: 'x', Operations: [] }, ''],
  ];
  test.each(['/Users', '/Groups', ''])('at %s', async (path) => {
    for (const [title, request, query] of searches) {
      const byGet = await fixture.send('GET', `${path}/?${query}`);
      const byPost = await search(`${path}/.search`, request);
      expect({ title, status: byPost.status, body: byPost.body }).toEqual({
        title,
        status: 200,
        body: byGet.body,
      });
      expect(byPost.headers.get('content-type')).toBe('application/scim+json');
      expect(byPost.body.schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:ListResponse']);
    }
  });
});

describe('a body that is not a SearchRequest is 400', () => {
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
  test.each(['/Users/.search', '/Groups/.search', '/.search'])('at %s', async (path) => {
    for (const [request, scimType, named] of faults) {
      const { status, body } = await search(path, request);
      expect({ request, status, body }).toMatchObject({
        status: 400,
        body: { scimType, detail: expect.stringContaining(named) },
      });
    }
  });
});

describe('the root (RFC 7644 §3.4.2.1)', () => {
  test('lists users and groups together, users first', async () => {
    const answer = await fixture.send('GET', '/');
    expect(answer.body).toMatchObject({ totalResults: 5, startIndex: 1, itemsPerPage: 5 });
    expect(idsIn(answer)).toEqual(['u1', 'u2', 'u3', 'g1', 'g2']);
    expect(answer.body.Resources[4]).toMatchObject({
      displayName: 'Desk',
      members: [{ value: 'u1' }],
      meta: { resourceType: 'Group', location: 'https://bridge.example/scim/v2/Groups/g2' },
    });
    expect((await fixture.send('GET', '')).body).toEqual(answer.body);
  });

  test('every page is the requested part of that list, with the exact total', async () => {
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

  test('a filter finds users and groups, also in pages', async () => {
    const filters: [string, string[]][] = [
      ['id eq "u2" or id eq "g1"', ['u2', 'g1']],
      ['meta.resourceType eq "User"', ['u1', 'u2', 'u3']],
      ['meta.resourceType eq "Group"', ['g1', 'g2']],
      ['meta.resourceType eq "Group" and displayName sw "d"', ['g2']],
      ['meta.resourceType eq "Nothing"', []],
      // An attribute that the type does not have counts as one without a value.
      ['userName eq "BOB"', ['u2']],
      ['members.value eq "u1"', ['g1', 'g2']],
      ['members[value eq "u1"] and displayName eq "desk"', ['g2']],
      ['userName eq "bob" or members[value eq "u1"]', ['u2', 'g1', 'g2']],
      ['userName sw "c" or members pr', ['u3', 'g1', 'g2']],
      ['not (userName eq "bob")', ['u1', 'u3', 'g1', 'g2']],
      ['not (members pr)', ['u1', 'u2', 'u3']],
      ['userName ne "bob" and displayName pr', ['g1', 'g2']],
      ['members eq null', ['u1', 'u2', 'u3']],
      ['members ne null', ['g1', 'g2']],
      ['urn:ietf:params:scim:schemas:core:2.0:Group:displayName eq "crew"', ['g1']],
      ['urn:ietf:params:scim:schemas:core:2.0:User:userName pr', ['u1', 'u2', 'u3']],
      ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department pr or department pr', []],
      ['schemas eq "urn:ietf:params:scim:schemas:core:2.0:Group"', ['g1', 'g2']],
    ];
    for (const [filter, found] of filters) {
      const answer = await search('/.search', { filter });
      expect({ filter, ids: idsIn(answer), total: answer.body.totalResults }).toEqual({
        filter,
        ids: found,
        total: found.length,
      });
      const page = await search('/.search', { filter, startIndex: 2, count: 1 });
      expect([idsIn(page), page.body.totalResults]).toEqual([found.slice(1, 2), found.length]);
    }
  });

  test('a filter that is invalid for both types is 400 invalidFilter', async () => {
    const filters = [
      'userName.nope eq "x"',
      'active gt true',
      'members[value gt',
      'nope pr',
      'userName eq "x" or nope pr',
    ];
    for (const filter of filters) {
      const answer = await search('/.search', { filter });
      expect({ filter, answer }).toMatchObject({
        answer: { status: 400, body: { scimType: 'invalidFilter' } },
      });
    }
  });

  test('users are sorted among users, and groups among groups', async () => {
    const answer = await search('/.search', { sortBy: 'id', sortOrder: 'descending' });
    expect(idsIn(answer)).toEqual(['u3', 'u2', 'u1', 'g2', 'g1']);
  });

  test.each([
    undefined,
    'meta.resourceType eq "User"',
    'meta.resourceType eq "Group"',
    'id eq "u2" or id eq "g1"',
    'id eq "x"',
  ])('cursors return users, then groups, for every page size: %s', async (filter) => {
    const all = idsIn(await search('/.search', { filter }));
    for (let count = 1; count <= 6; count += 1) {
      const pages: string[][] = [];
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const page = await search('/.search', { filter, count, cursor });
        expect(page.body).toMatchObject({ totalResults: all.length, itemsPerPage: idsIn(page).length });
        expect(page.body.startIndex).toBeUndefined();
        pages.push(idsIn(page));
        cursor = page.body.nextCursor;
      }
      expect(pages.flat()).toEqual(all);
      for (const page of pages.slice(0, -1)) expect(page).toHaveLength(count);
    }
  });

  test('a cursor of another list, and any other text, is 400 invalidCursor', async () => {
    const first = async (path: string) => (await search(path, { cursor: '', count: 1 })).body.nextCursor;
    const [both, users, groups] = [
      await first('/.search'),
      await first('/Users/.search'),
      await first('/Groups/.search'),
    ];
    const inGroups = (await search('/.search', { cursor: '', count: 4 })).body.nextCursor;
    const wrong: [string, unknown][] = [
      ['/.search', users],
      ['/.search', groups],
      ['/.search', 'x'],
      ['/.search', 'U.x'],
      ['/.search', 'G.x'],
      ['/.search', `U.${groups}`],
      ['/.search', `G.${users}`],
      ['/Users/.search', both],
      ['/Groups/.search', inGroups],
    ];
    for (const [path, cursor] of wrong) {
      expect(await search(path, { cursor, count: 1 })).toMatchObject({
        status: 400,
        body: { scimType: 'invalidCursor' },
      });
    }
    expect(await fixture.send('GET', `/?cursor=${both}&cursor=${both}`)).toMatchObject({ status: 400 });
    expect(await search('/.search', { cursor: both, count: 0 })).toMatchObject({
      body: { scimType: 'invalidCount' },
    });
    expect(await search('/.search', { cursor: both, startIndex: 1 })).toMatchObject({
      body: { scimType: 'invalidValue' },
    });
    expect((await search('/.search', { cursor: both, count: 1 })).body.Resources).toHaveLength(1);
  });
});
