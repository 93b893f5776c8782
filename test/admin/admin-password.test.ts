import { runDoctor } from '../../src/checks/doctor.ts';
import { readSettings } from '../../src/config/settings.ts';
import { createLog } from '../../src/http/log.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { adminClient, signIn } from '../fixtures/admin.ts';
import { createDataFolder } from '../fixtures/data-folder.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { startService } from '../fixtures/service.ts';
import { recordedShell } from '../fixtures/shell.ts';

const data = { JETBRIDGE_DATA: createDataFolder('jetbridge-admin-password-') };

test('a changed ADMIN_PASSWORD is in force after the next start, and ends the sessions of the one before; without it the password stays', async () => {
  const first = await startService({ ...data, ADMIN_PASSWORD: 'correct-horse-one' });
  const browser = await signIn(adminClient(first.url), 'admin', 'correct-horse-one');
  const token = (await browser('POST', '/admin-tokens', { body: { name: 'script', role: 'admin' } })).body
    .token;
  const { Cookie } = await cookieOf(first.url, 'correct-horse-one');
  await first.close();

  const same = await startService({ ...data, ADMIN_PASSWORD: 'correct-horse-one' });
  expect((await adminClient(same.url, { Cookie })('GET', '/session')).status).toBe(200);
  await same.close();

  const other = await startService({ ...data, ADMIN_PASSWORD: 'correct-horse-two' });
  expect((await adminClient(other.url, { Cookie })('GET', '/session')).status).toBe(401);
  const script = adminClient(other.url, { Authorization: `Bearer ${token}` });
  expect((await script('GET', '/session')).status).toBe(200);
  await other.close();

  const without = await startService(data);
  expect(await without.makeFirstAdmin()).toBeUndefined();
  await signIn(adminClient(without.url), 'admin', 'correct-horse-two');
  await without.close();
});

async function cookieOf(url: string, password: string): Promise<{ Cookie: string }> {
  const { headers } = await adminClient(url)('POST', '/sign-in', { body: { name: 'admin', password } });
  const [Cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
  return { Cookie };
}

test('a weak ADMIN_PASSWORD signs in, and the log of the start and the doctor warn of it', async () => {
  const weak = [
    ['hunter2', 'has fewer than 12 characters'],
    ['abcdefgabcdefg', 'repeats its first 7 characters'],
  ] as const;
  for (const [ADMIN_PASSWORD, weakness] of weak) {
    const lines: JsonObject[] = [];
    const log = createLog('warn', parseLinesInto(lines));
    const service = await startService({ ADMIN_PASSWORD }, { log });
    await service.makeFirstAdmin();
    await signIn(adminClient(service.url), 'admin', ADMIN_PASSWORD);
    await service.close();
    expect(lines.map(({ msg }) => msg)).toContain(
      `ADMIN_PASSWORD ${weakness}, so it could be guessed; set it to a longer one`,
    );
    expect(JSON.stringify(lines)).not.toContain(ADMIN_PASSWORD);
    expect(await doctorResult({ ADMIN_PASSWORD })).toMatchObject({
      ...{ state: 'warning', text: `${weakness}, so it could be guessed` },
    });
  }
});

test('a strong ADMIN_PASSWORD is no cause for a warning', async () => {
  expect(await doctorResult({ ADMIN_PASSWORD: 'correct-horse-battery' })).toMatchObject({ state: 'ok' });
  expect(await doctorResult({})).toBeUndefined();
});

async function doctorResult(environment: Record<string, string>) {
  const shell = await recordedShell({ ...data, ...environment });
  const results = await runDoctor(readSettings(shell.environment, shell.home), Date.now());
  return results.find(({ check }) => check === 'ADMIN_PASSWORD');
}
