import { urns } from '../../../src/schema/resource.ts';
import { patchOp, type ScimFixture, scimFixture } from '../../fixtures/scim.ts';

let scim: ScimFixture;
beforeEach(async () => {
  scim = await scimFixture();
});
afterEach(() => scim.close());

// Microsoft's SCIM validator sends such a PATCH.
describe('a PATCH without operations', () => {
  test('answers 200 with the unchanged user', async () => {
    const { body: user } = await scim.send('POST', '/Users', { userName: 'ada', title: 'Lead' });
    const patched = await scim.send('PATCH', `/Users/${user.id}`, patchOp());
    expect([patched.status, patched.headers.get('etag')]).toEqual([200, user.meta.version]);
    expect(patched.body).toEqual(user);
    expect((await scim.send('GET', `/Users/${user.id}`)).body).toEqual(user);
  });

  test('answers 200 with the unchanged group', async () => {
    const members = [{ value: 'somebody' }];
    const { body: group } = await scim.send('POST', '/Groups', { displayName: 'Crew', members });
    const patched = await scim.send('PATCH', `/Groups/${group.id}`, patchOp());
    expect([patched.status, patched.headers.get('etag')]).toEqual([200, group.meta.version]);
    expect(patched.body).toEqual(group);
    expect((await scim.send('GET', `/Groups/${group.id}`)).body).toEqual(group);
  });

  test('has the response of any PATCH without effect', async () => {
    const { body: user } = await scim.send('POST', '/Users', { userName: 'ada', title: 'Lead' });
    const path = `/Users/${user.id}`;
    const same = await scim.send('PATCH', path, patchOp({ op: 'replace', path: 'title', value: 'Lead' }));
    const empty = await scim.send('PATCH', path, patchOp());
    expect([empty.status, empty.body]).toEqual([same.status, same.body]);
    const some = await scim.send('PATCH', `${path}?attributes=title`, patchOp());
    expect(some.body).toEqual({ schemas: user.schemas, id: user.id, title: 'Lead' });
  });

  test('is 412 at a wrong version, and 404 for an unknown id', async () => {
    const { body: user } = await scim.send('POST', '/Users', { userName: 'ada' });
    const path = `/Users/${user.id}`;
    expect((await scim.send('PATCH', path, patchOp(), { 'If-Match': 'W/"99"' })).status).toBe(412);
    expect((await scim.send('PATCH', '/Users/nobody', patchOp())).status).toBe(404);
    expect((await scim.send('PATCH', '/Groups/nobody', patchOp())).status).toBe(404);
  });

  test('is 400 without the array Operations', async () => {
    const { body: user } = await scim.send('POST', '/Users', { userName: 'ada' });
    const { schemas } = patchOp();
    for (const body of [{ schemas }, { schemas, Operations: null }, { schemas, Operations: {} }])
      expect((await scim.send('PATCH', `/Users/${user.id}`, body)).body).toMatchObject({
        status: '400',
        scimType: 'invalidSyntax',
      });
  });
});

// docs/deviations.md: type, primary and display are only labels of a value.
describe('remove at the sub-attribute `value`', () => {
  let path: string;
  beforeEach(async () => {
    const { body } = await scim.send('POST', '/Users', {
      userName: 'ada',
      emails: [
        { value: 'ada@corp.example', type: 'work', primary: true, display: 'Ada' },
        { value: 'ada@home.example', type: 'home' },
      ],
      [urns.enterprise]: { manager: { value: 'm-1', displayName: 'Max' } },
    });
    path = `/Users/${body.id}`;
  });
  async function afterRemove(...paths: string[]) {
    const operations = paths.map((one) => ({ op: 'remove', path: one }));
    const { status, body } = await scim.send('PATCH', path, patchOp(...operations));
    expect(status).toBe(200);
    return body;
  }

  test('removes the element that a value filter selects', async () => {
    const { emails } = await afterRemove('emails[type eq "work"].value');
    expect(emails).toEqual([{ value: 'ada@home.example', type: 'home' }]);
  });

  test('removes all elements without a value filter', async () => {
    expect((await afterRemove('emails.value')).emails).toBeUndefined();
  });

  test('removes only the sub-attribute of a single complex value', async () => {
    const body = await afterRemove(`${urns.enterprise}:manager.value`);
    expect(body[urns.enterprise]).toEqual({ manager: { displayName: 'Max' } });
  });
});
