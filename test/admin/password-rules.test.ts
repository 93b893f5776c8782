import { runDoctor } from '../../src/checks/doctor.ts';
import { readSettings } from '../../src/config/settings.ts';
import { createLog } from '../../src/http/log.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { type AdminClient, type AdminFixture, adminClient, signIn, startAdmin } from '../fixtures/admin.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { startService } from '../fixtures/service.ts';
import { recordedShell } from '../fixtures/shell.ts';

let fixture: AdminFixture;
let ada: AdminClient;
let present: string;
beforeAll(async () => {
  fixture = await startAdmin();
  const { body } = await fixture.admin('POST', '/accounts', { body: { name: 'Ada', role: 'viewer' } });
  present = body.password;
  ada = await signIn(fixture.anonymous, 'ada', present);
});
afterAll(() => fixture.close());

/** Tries to change the password of the account. Returns undefined if it was changed, else the fault. */
async function faultOf(password: string): Promise<string | undefined> {
  const { status, body } = await ada('PUT', '/session/password', { body: { current: present, password } });
  if (status === 204) {
    present = password;
    ada = await signIn(fixture.anonymous, 'ada', password);
    return undefined;
  }
  expect([status, body.faults[0].field]).toEqual([422, 'password']);
  return body.faults[0].message;
}

const COMMON =
  'is one of the most common passwords: choose another one, e.g. four words that do not belong together';

test.each([
  ...['123qweasdzxc', '1QAZ2wsx3edc', 'administrator', 'Password1234', 'administrator '],
  ...['password 1234', 'ａｄｍｉｎｉｓｔｒａｔｏｒ', 'administrator\u200b', 'admin\u00adistrator'],
])(
  'the common password %j is refused, whatever the case of its letters, its spaces and invisible characters',
  async (password) => {
    expect(await faultOf(password)).toBe(COMMON);
  },
);

test('a password has 12 to 128 characters', async () => {
  expect(await faultOf('q7#Lw9!zRt2')).toBe('has at least 12 characters');
  expect(await faultOf('correct horse '.repeat(10))).toBe('has at most 128 characters');
  expect(await faultOf('correct horse battery staple '.repeat(4))).toBeUndefined();
});

test.each(['lettersalone in lower case', '830172946185', 'пароль из слов', 'Ünïcödé and 🚲🚲'])(
  'a password needs no certain kinds of characters: %s',
  async (password) => {
    expect(await faultOf(password)).toBeUndefined();
  },
);

test('a weak ADMIN_PASSWORD signs in, and the log of the start and the doctor warn of it', async () => {
  const weak = [
    ['hunter2', 'has fewer than 12 characters'],
    ['Administrator', 'is one of the most common passwords'],
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
  const shell = await recordedShell({ JETBRIDGE_DATA: fixture.service.data, ...environment });
  const results = await runDoctor(readSettings(shell.environment, shell.home), Date.now());
  return results.find(({ check }) => check === 'ADMIN_PASSWORD');
}
