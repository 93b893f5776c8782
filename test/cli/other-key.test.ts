import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createLog } from '../../src/http/log.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { startService } from '../fixtures/service.ts';

const newKey = () => randomBytes(32).toString('hex');
const own = newKey();

/** A log of exchanges with a POST of Ada and the travel call that it caused, encrypted with the key `own`. */
let folder: ReturnType<typeof temporaryFolder>;
let data: { JETBRIDGE_DATA: string };
beforeAll(async () => {
  folder = temporaryFolder();
  data = { JETBRIDGE_DATA: join(folder.path, 'data') };
  const service = await startService({ ...data, JETBRIDGE_KEY: own }, { background: false });
  const { status } = await scimClient(service.url, service.scimToken).send('POST', '/Users', {
    userName: 'ada@corp.example',
    name: { givenName: 'Ada', familyName: 'King' },
  });
  expect(status).toBe(201);
  await service.close();
});
afterAll(() => folder.remove());

/** Runs a command line with another key, unless one is given. */
const run = (args: string[], keys: Record<string, string> = { JETBRIDGE_KEY: newKey() }) =>
  runCommandLine(args, { ...data, ...keys });

const unreadable =
  /^\d+ requests? of the log cannot be read with this key: set JETBRIDGE_KEY or JETBRIDGE_KEY_PREVIOUS to the one that encrypted them\.$/m;

describe('with another key than that of the log of exchanges', () => {
  test('doctor reports a fault', async () => {
    const { code, out } = await run(['doctor']);
    expect(code).toBe(1);
    expect(out).toMatch(
      /^fault {4}encryption key: the log of exchanges was encrypted with another key\. Set JETBRIDGE_KEY or JETBRIDGE_KEY_PREVIOUS to that key\.$/m,
    );
  });

  test('requests says how many it cannot read', async () => {
    const { code, out, err } = await run(['requests', '--direction', 'scim']);
    expect([code, out]).toEqual([0, '']);
    expect(err).toMatch(/^There are no such requests among those that can be read\.\n/);
    expect(err).toMatch(unreadable);
  });

  test('requests show does not say that the request does not exist', async () => {
    const { code, err } = await run(['requests', 'show', '1']);
    expect(code).toBe(1);
    expect(err).toMatch(/^There is no request 1 among those that can be read; /);
    expect(err).toMatch(/^1 request of the log cannot be read /m);
  });

  test('explain says that it leaves out requests', async () => {
    const { code, out, err } = await run(['explain', 'ada@corp.example']);
    expect(code).toBe(0);
    expect(out).not.toContain('Last requests');
    expect(err).toMatch(unreadable);
  });

  test('record says that it leaves out requests', async () => {
    const { code, err } = await run(['record', '--since', '3h', '--out', join(folder.path, 'scenarios')]);
    expect(code).toBe(0);
    expect(err).toMatch(
      /^There are no requests of default in that time that can be read; nothing was written/,
    );
    expect(err).toMatch(unreadable);
  });
});

test('with the key as the previous one, the doctor and the commands read the log', async () => {
  const keys = { JETBRIDGE_KEY: newKey(), JETBRIDGE_KEY_PREVIOUS: own };
  expect((await run(['doctor'], keys)).out).toMatch(/^ok {7}encryption key: /m);
  const { out, err } = await run(['requests', '--direction', 'scim'], keys);
  expect(out).toContain('/scim/v2/Users');
  expect(err).not.toMatch(unreadable);
  expect((await run(['explain', 'ada@corp.example'], keys)).out).toContain('Last requests');
});

describe('a start', () => {
  /** Returns the warnings about the log of exchanges of a start. */
  async function warningsWith(keys: Record<string, string>): Promise<unknown[]> {
    const lines: JsonObject[] = [];
    const log = createLog('warn', parseLinesInto(lines));
    const service = await startService({ ...data, ...keys }, { background: false, log });
    await service.close();
    return lines.map(({ msg }) => msg).filter((msg) => String(msg).startsWith('the log of exchanges'));
  }

  test('with another key logs one warning, and with the right one none', async () => {
    expect(await warningsWith({ JETBRIDGE_KEY: own })).toEqual([]);
    expect(await warningsWith({ JETBRIDGE_KEY: newKey(), JETBRIDGE_KEY_PREVIOUS: own })).toEqual([]);
    expect(await warningsWith({ JETBRIDGE_KEY: newKey() })).toEqual([
      'the log of exchanges was encrypted with another key than JETBRIDGE_KEY or jetbridge.key, and cannot be read: set JETBRIDGE_KEY or JETBRIDGE_KEY_PREVIOUS to that key',
    ]);
  });
});
