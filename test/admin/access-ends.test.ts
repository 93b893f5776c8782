import { adminSessions } from '../../src/store/credentials/admins.ts';
import { type AdminFixture, signInPerson, startAdmin } from '../fixtures/admin.ts';
import { sendBodyLate } from '../fixtures/late-body.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

let fixture: AdminFixture;
beforeAll(async () => {
  fixture = await startAdmin();
});
afterAll(() => fixture.close());

test.each([
  [
    'the session was ended by an admin',
    401,
    async (name: string) => {
      const { sessions } = (await fixture.admin('GET', '/sessions')).body;
      const { id } = sessions.find((one: { name: string }) => one.name === `${name} (idp.example)`);
      await fixture.admin('DELETE', `/sessions/${id}`);
    },
  ],
  [
    'the person became a viewer',
    403,
    async (name: string) => {
      const database = await openTestDatabase(fixture.service.data);
      const subject = `https://idp.example ${name}`;
      await adminSessions(database).updatePerson({ name, role: 'viewer', subject });
      await database.close();
    },
  ],
])('a change whose body arrives after %s is refused', async (reason, status, endAccess) => {
  const name = `Mara before ${reason}`;
  const { headers } = await signInPerson(fixture.service, { name, role: 'admin' });
  const token = { name: `made after ${reason}`, role: 'admin' };
  const url = `${fixture.service.url}/admin/api/admin-tokens`;
  const late = { method: 'POST', body: token, headers };
  expect(await sendBodyLate(url, late, () => endAccess(name))).toBe(status);
  const { body } = await fixture.admin('GET', '/admin-tokens');
  expect(JSON.stringify(body)).not.toContain(token.name);
});
