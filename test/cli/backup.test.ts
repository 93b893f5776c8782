import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../fixtures/command-line.ts';
import { type CommandResult, temporaryFolder } from '../fixtures/jetbridge.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { describeOnSqlite } from '../fixtures/test-database.ts';

const folder = temporaryFolder();
const file = join(folder.path, 'one.backup');
const restored = join(folder.path, 'restored');
let service: RunningService;
beforeAll(async () => {
  service = await startService();
  const idp = scimClient(service.url, service.scimToken);
  expect((await idp.send('POST', '/Users', { userName: 'ada@corp.example', active: true })).status).toBe(201);
});
afterAll(async () => {
  await service.close();
  folder.remove();
});
afterEach(() => rmSync(restored, { recursive: true, force: true }));

describeOnSqlite('beside a server with a data folder', () => {
  let made: CommandResult;
  beforeAll(async () => {
    made = await runCommandLine(['backup', file], { JETBRIDGE_DATA: service.data });
  });

  test('backup says what the file has, what it reveals and what is not in it', () => {
    expect(made).toEqual({
      ...{ code: 0, err: '' },
      out: expect.stringMatching(
        new RegExp(
          [
            `^${file}: 1 person of 1 connection, \\d+ rows in \\d+ tables, 0\\.\\d MB\\. It was read again, and is whole\\.`,
            'It has personal data, and hashes of passwords and tokens: keep it where only you can read it\\.',
            `Not in it: the key [0-9a-f]{8} \\(${service.data}/jetbridge\\.key\\), without which .* Keep them in another place\\.\\n$`,
          ].join('\n'),
        ),
      ),
    });
  });

  test('restore says what to do next, beginning with the key', async () => {
    const { code, out, err } = await runCommandLine(['restore', file], { JETBRIDGE_DATA: restored });
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(new RegExp(`^${restored} is as it was at 20.* UTC: 1 person of 1 connection, `));
    expect(out).toMatch(
      /\n1\. Put the key with the id [0-9a-f]{8} into \S+\/restored\/jetbridge\.key: it is not here/,
    );
    expect(out).toMatch(/\n2\. Start the server\./);
    expect(out).toMatch(
      /\n3\. Revoke again what was revoked after 20.* UTC: .* and so is its admin password\.\n/,
    );
  });

  test('restore does not ask for a key that is there', async () => {
    const key = readFileSync(join(service.data, 'jetbridge.key'), 'utf8').trim();
    const { code, out } = await runCommandLine(['restore', file], {
      JETBRIDGE_DATA: restored,
      JETBRIDGE_KEY: key,
    });
    expect([code, out.includes('Put the key')]).toEqual([0, false]);
  });

  test('restore names the variable where another key is in force', async () => {
    const environment = { JETBRIDGE_DATA: restored, JETBRIDGE_KEY: randomBytes(32).toString('hex') };
    const { code, out } = await runCommandLine(['restore', file], environment);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/\n1\. Put the key with the id \S+ into JETBRIDGE_KEY: /),
    ]);
  });

  test('restore is refused where a server runs, and backup where there is a file', async () => {
    const environment = { JETBRIDGE_DATA: service.data };
    const restoring = await runCommandLine(['restore', file], environment);
    expect([restoring.code, restoring.err]).toEqual([
      1,
      expect.stringContaining('is in use by another Jetbridge. Stop it, or'),
    ]);
    const again = await runCommandLine(['backup', file], environment);
    expect([again.code, again.err]).toEqual([
      1,
      `${file} exists already, and is left as it is. Give another name.\n`,
    ]);
  });

  test('restore refuses a file that is no backup before it makes a database', async () => {
    const other = join(folder.path, 'other.backup');
    writeFileSync(other, 'no backup');
    const { code, err } = await runCommandLine(['restore', other], { JETBRIDGE_DATA: restored });
    expect([code, err]).toEqual([
      1,
      `${other} is not a whole backup of Jetbridge: incorrect header check. Use another one.\n`,
    ]);
  });
});
