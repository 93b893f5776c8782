import { adminOperations } from '../../src/admin/catalog.ts';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';

let fixture: AdminFixture;
beforeAll(async () => {
  fixture = await startAdmin();
});
afterAll(() => fixture.close());

test('no operation changes or removes an entry of the audit log, and nobody reads it without a credential', async () => {
  const operations = Object.values(adminOperations).filter(({ path }) => path.startsWith('/audit'));
  expect(operations.map(({ path, method }) => [path, method])).toEqual([
    ['/audit', 'get'],
    ['/audit.csv', 'get'],
    ['/audit/choices', 'get'],
  ]);
  const { admin, anonymous } = fixture;
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    expect((await admin(method, '/audit')).status).toBe(405);
  expect((await anonymous('GET', '/audit')).status).toBe(401);
});
