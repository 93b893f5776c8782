import { type ScimFixture, scimFixture } from '../fixtures/scim.ts';

let fixture: ScimFixture;
beforeEach(async () => {
  fixture = await scimFixture();
  await fixture.send('POST', '/Users', { userName: 'ada', title: 'Lead' });
  await fixture.send('POST', '/Users', { userName: 'bob', active: false });
});
afterEach(() => fixture.close());

const eqAda = encodeURIComponent('userName eq "ada"');

describe('the name of a query parameter means the same in any case', () => {
  test.each([`FILTER=${eqAda}`, `Filter=${eqAda}`, 'COUNT=1', 'startindex=2', 'Count=1&STARTINDEX=1'])(
    '%s lists one user',
    async (query) => {
      const { status, body } = await fixture.send('GET', `/Users?${query}`);
      expect([status, body.Resources.length]).toEqual([200, 1]);
    },
  );

  test.each(['/', '/Groups'])('in a list of %s', async (path) => {
    const filter = encodeURIComponent('displayName eq "nobody"');
    expect((await fixture.send('GET', `${path}?FILTER=${filter}`)).body.totalResults).toBe(0);
  });

  test.each(['FILTER', 'Filter'])('discovery refuses %s (RFC 7644 §4)', async (name) => {
    expect((await fixture.send('GET', `/Schemas?${name}=id%20pr`)).status).toBe(403);
  });

  test('one user is read with the named attributes', async () => {
    const { body } = await fixture.send('GET', '/Users/u1?ATTRIBUTES=userName');
    expect(Object.keys(body).sort()).toEqual(['id', 'schemas', 'userName']);
  });

  test('two filters whose names differ in case are two filters', async () => {
    const answer = await fixture.send('GET', `/Users?filter=${eqAda}&FILTER=${eqAda}`);
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } });
  });
});

describe('`attributes` and `excludedAttributes` without a name count as absent', () => {
  test.each(['attributes=', 'excludedAttributes=', 'attributes=&excludedAttributes=', 'attributes=%20,'])(
    '%s returns the whole user',
    async (query) => {
      const { status, body } = await fixture.send('GET', `/Users/u1?${query}`);
      expect([status, body.userName, body.title, body.active]).toEqual([200, 'ada', 'Lead', true]);
    },
  );

  test('beside another one, which counts', async () => {
    const { body } = await fixture.send('GET', '/Users/u1?attributes=&excludedAttributes=title');
    expect([body.userName, body.title]).toEqual(['ada', undefined]);
  });

  test('in a search by POST', async () => {
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'];
    const { body } = await fixture.send('POST', '/Users/.search', { schemas, attributes: '', count: 1 });
    expect(body.Resources).toMatchObject([{ userName: 'ada', title: 'Lead' }]);
  });

  test('a group that is sent back as it was read keeps its members', async () => {
    const group = { displayName: 'Crew', members: [{ value: 'u1' }] };
    const { id } = (await fixture.send('POST', '/Groups', group)).body;
    const read = (await fixture.send('GET', `/Groups/${id}?attributes=`)).body;
    const { status, body } = await fixture.send('PUT', `/Groups/${id}?attributes=`, read);
    expect([status, body.displayName, body.members]).toMatchObject([200, 'Crew', [{ value: 'u1' }]]);
  });

  test('a PATCH of a group without members in its answer stays so: only a name asks for the resource', async () => {
    const { id } = (await fixture.send('POST', '/Groups', { displayName: 'Crew' })).body;
    const Operations = [{ op: 'replace', path: 'displayName', value: 'Team' }];
    const { status, body } = await fixture.send('PATCH', `/Groups/${id}?attributes=`, { Operations });
    expect([status, body.displayName]).toEqual([200, 'Team']);
  });
});
