import { urns } from '../../src/schema/resource.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimService, scimService } from '../fixtures/scim-service.ts';

let scim: ScimService;
beforeEach(async () => {
  scim = await scimService();
});
afterEach(() => scim.close());

const core = 'urn:ietf:params:scim:schemas:core:2.0';
const others = [urns.group, urns.group.toUpperCase(), `${core}:Schema`, `${core}:ServiceProviderConfig`];

describe('the base schema of another resource type is not an extension of a user', () => {
  it.each(others)('%s in POST and PUT is dropped', async (urn) => {
    const given = { userName: 'ada', [urn]: { displayName: 'Crew' }, [`${urn}:displayName`]: 'Crew' };
    const { status, body } = await scim.send('POST', '/Users', given);
    expect([status, body.schemas, Object.keys(body).filter((key) => key.includes(':'))]).toEqual([
      201,
      [urns.user],
      [],
    ]);
    const { body: put } = await scim.send('PUT', `/Users/${body.id}`, given);
    expect(put).toEqual(body);
  });

  it.each(others)('%s in PATCH changes nothing, like an unknown core attribute', async (urn) => {
    const { body } = await scim.send('POST', '/Users', { userName: 'ada' });
    const operations = [
      { op: 'add', path: urn, value: { displayName: 'Crew' } },
      { op: 'add', path: `${urn}:displayName`, value: 'Crew' },
      { op: 'add', value: { [urn]: { displayName: 'Crew' } } },
      { op: 'add', value: { [`${urn}:displayName`]: 'Crew' } },
    ];
    for (const operation of operations) {
      const patched = await scim.send('PATCH', `/Users/${body.id}`, patchOp(operation));
      expect([patched.status, patched.body]).toEqual([200, body]);
    }
  });

  it.each(others)('a filter on %s is refused', async (urn) => {
    const filter = encodeURIComponent(`${urn}:displayName eq "Crew"`);
    expect((await scim.send('GET', `/Users?filter=${filter}`)).body).toMatchObject({
      status: '400',
      scimType: 'invalidFilter',
    });
  });
});

test('the User schema is not an extension of a group', async () => {
  const given = { displayName: 'Crew', [urns.user]: { title: 'Lead' }, [`${urns.user}:title`]: 'Lead' };
  const { body } = await scim.send('POST', '/Groups', given);
  expect(body.schemas).toEqual([urns.group]);
  expect(Object.keys(body).filter((key) => key.includes(':'))).toEqual([]);
});

test('a search for users and groups together accepts the base schemas of both', async () => {
  await scim.send('POST', '/Users', { userName: 'ada', displayName: 'Crew' });
  await scim.send('POST', '/Groups', { displayName: 'Crew' });
  const filter = encodeURIComponent(`${urns.group}:displayName eq "Crew"`);
  const { body } = await scim.send('GET', `/?filter=${filter}`);
  expect(body.Resources.map(({ meta }: { meta: { resourceType: string } }) => meta.resourceType)).toEqual([
    'Group',
  ]);
});
