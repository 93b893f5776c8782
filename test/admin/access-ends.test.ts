import { once } from 'node:events';
import { request } from 'node:http';
import { type AdminFixture, type AdminResponse, startAdmin } from '../fixtures/admin.ts';

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

/** Sends a request without its body, and the body after `between`. Returns the status of the answer. */
async function sendBodyLate(
  { method, path, body, headers }: { method: string; path: string; body: object; headers: object },
  between: () => Promise<unknown>,
): Promise<number | undefined> {
  const sent = request(`${fixture.service.url}/admin/api${path}`, {
    method,
    headers: { ...headers, 'Content-Type': 'application/json', Expect: '100-continue' },
  });
  sent.flushHeaders();
  // The service has read the head of the request by then.
  await once(sent, 'continue');
  await between();
  const answered = once(sent, 'response');
  sent.end(JSON.stringify(body));
  const [response] = await answered;
  response.resume();
  return response.statusCode;
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
  const late = { method: 'POST', path: '/admin-tokens', body: token, headers };
  expect(await sendBodyLate(late, () => endAccess(id))).toBe(status);
  const { body } = await fixture.admin('GET', '/admin-tokens');
  expect(JSON.stringify(body)).not.toContain(token.name);
});

test('an account that is made a viewer does not make itself an admin with a body that arrives later', async () => {
  const { id, headers } = await signedInAdmin('Nils');
  const late = { method: 'PATCH', path: `/accounts/${id}`, body: { role: 'admin' }, headers };
  const makeViewer = () => fixture.admin('PATCH', `/accounts/${id}`, { body: { role: 'viewer' } });
  expect(await sendBodyLate(late, makeViewer)).toBe(403);
});
