import { type AdminFixture, type AdminResponse, startAdmin } from '../fixtures/admin.ts';
import { sendBodyLate } from '../fixtures/late-body.ts';

let fixture: AdminFixture;
beforeAll(async () => {
  fixture = await startAdmin();
});
afterAll(() => fixture.close());

/** Creates an account, signs in, and returns its id and the headers of its session. */
async function signedInAdmin(name: string): Promise<{ id: string; headers: Record<string, string> }> {
  const { admin, anonymous } = fixture;
  const { body: made } = await admin('POST', '/accounts', { body: { name, role: 'admin' } });
  const signedIn = await anonymous('POST', '/sign-in', { body: { name, password: made.password } });
  const [Cookie = ''] = (signedIn.headers.get('set-cookie') ?? '').split(';');
  return { id: made.id, headers: { Cookie, 'X-CSRF-Token': signedIn.body.csrfToken } };
}

test.each<[string, number, (id: string) => Promise<AdminResponse>]>([
  ['its account is revoked', 401, (id) => fixture.admin('DELETE', `/accounts/${id}`)],
  ['its password is reset', 401, (id) => fixture.admin('POST', `/accounts/${id}/password`)],
  [
    'its account is made a viewer',
    403,
    (id) => fixture.admin('PATCH', `/accounts/${id}`, { body: { role: 'viewer' } }),
  ],
])('a change whose body arrives after %s is refused', async (reason, status, endAccess) => {
  const { id, headers } = await signedInAdmin(`Mara before ${reason}`);
  const token = { name: `made after ${reason}`, role: 'admin' };
  const url = `${fixture.service.url}/admin/api/admin-tokens`;
  const late = { method: 'POST', body: token, headers };
  expect(await sendBodyLate(url, late, () => endAccess(id))).toBe(status);
  const { body } = await fixture.admin('GET', '/admin-tokens');
  expect(JSON.stringify(body)).not.toContain(token.name);
});

test('an account that is made a viewer does not make itself an admin with a body that arrives later', async () => {
  const { id, headers } = await signedInAdmin('Nils');
  const url = `${fixture.service.url}/admin/api/accounts/${id}`;
  const late = { method: 'PATCH', body: { role: 'admin' }, headers };
  const makeViewer = () => fixture.admin('PATCH', `/accounts/${id}`, { body: { role: 'viewer' } });
  expect(await sendBodyLate(url, late, makeViewer)).toBe(403);
});
