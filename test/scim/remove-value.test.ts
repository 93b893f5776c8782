import { urns } from '../../src/schema/resource.ts';
import { patchOp } from '../fixtures/scim.ts';
import { type ScimService, scimService } from '../fixtures/scim-service.ts';

/** What docs/deviations.md says of `remove` at the sub-attribute `value`. */
let scim: ScimService;
let path: string;
beforeEach(async () => {
  scim = await scimService();
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
afterEach(() => scim.close());

async function after(...paths: string[]) {
  const operations = paths.map((one) => ({ op: 'remove', path: one }));
  const { status, body } = await scim.send('PATCH', path, patchOp(...operations));
  expect(status).toBe(200);
  return body;
}

test('with a value filter it removes the element, as only labels are left', async () => {
  const { emails } = await after('emails[type eq "work"].value');
  expect(emails).toEqual([{ value: 'ada@home.example', type: 'home' }]);
});

test('without a filter it removes all elements', async () => {
  expect((await after('emails.value')).emails).toBeUndefined();
});

test('of a single complex value it removes the sub-attribute alone', async () => {
  const body = await after(`${urns.enterprise}:manager.value`);
  expect(body[urns.enterprise]).toEqual({ manager: { displayName: 'Max' } });
});
