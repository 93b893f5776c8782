import { userInfo } from 'node:os';
import { createAdmin, listAdmins, resetAdmin, revokeAdmin } from '../../src/cli/admins.ts';
import { type AdminFixture, signIn, startAdmin } from '../fixtures/admin.ts';
import { recordedShell } from '../fixtures/shell.ts';

let fixture: AdminFixture;
beforeAll(async () => {
  fixture = await startAdmin();
});
afterAll(() => fixture.close());

const shell = () => recordedShell({ JETBRIDGE_DATA: fixture.service.data });

test('an account that is created beside a running service can sign in', async () => {
  const made = await shell();
  expect(await createAdmin(made, 'Ada', 'viewer')).toBe(0);
  const browser = await signIn(fixture.anonymous, 'ada', made.out[0] ?? '');
  expect((await browser('GET', '/session')).body).toMatchObject({ name: 'Ada', role: 'viewer' });
  const again = await shell();
  expect(await createAdmin(again, 'ADA', 'admin')).toBe(1);
  expect(again.err).toEqual(['There is already an account named ADA.']);
});

test('a lost password is reset, which ends the sessions of the account', async () => {
  const { anonymous, password } = fixture;
  const browser = await signIn(anonymous, 'admin', password);
  const reset = await shell();
  expect(await resetAdmin(reset, 'admin')).toBe(0);
  expect((await browser('GET', '/session')).status).toBe(401);
  await signIn(anonymous, 'admin', reset.out[0] ?? '');
  const { body } = await fixture.viewer('GET', '/audit?action=resetPassword');
  expect(body.entries[0]).toMatchObject({
    actorKind: 'command',
    actor: `command line: ${userInfo().username}`,
    status: 200,
  });
});

test('a revoked account cannot sign in, and its name is free again', async () => {
  const made = await shell();
  await createAdmin(made, 'Grace', 'admin');
  expect(await revokeAdmin(await shell(), 'grace')).toBe(0);
  await expect(signIn(fixture.anonymous, 'grace', made.out[0] ?? '')).rejects.toThrow('401');
  expect(await createAdmin(await shell(), 'Grace', 'viewer')).toBe(0);
  const listed = await shell();
  expect(await listAdmins(listed, { json: true })).toBe(0);
  const graces = listed.out.map((line) => JSON.parse(line)).filter(({ name }) => name === 'Grace');
  expect(graces.map(({ role, revokedAt }) => [role, typeof revokedAt])).toEqual([
    ['admin', 'string'],
    ['viewer', 'undefined'],
  ]);
});

test('an unknown name is told', async () => {
  const unknown = await shell();
  expect(await revokeAdmin(unknown, 'nobody')).toBe(1);
  expect(unknown.err[0]).toMatch(/^There is no account named nobody\. "npx jetbridge admins list"/);
});
