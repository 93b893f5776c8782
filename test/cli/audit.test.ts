import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { runCommandLine } from '../fixtures/command-line.ts';

let fixture: AdminFixture;
beforeAll(async () => {
  // It signs in, and creates two tokens.
  fixture = await startAdmin();
});
afterAll(() => fixture.close());

const audit = (...args: string[]) =>
  runCommandLine(['audit', ...args], { JETBRIDGE_DATA: fixture.service.data });

test('the table has the newest entries first, up to a limit', async () => {
  const { code, out, err } = await audit('--limit', '1', '--action', 'createAdminToken');
  expect(code).toBe(0);
  expect(out).toMatch(
    /│ admin +│ account +│ 127\.0\.0\.1 +│ createAdminToken +│ .*viewer of tests.* +│ 200 +│/,
  );
  expect(out).not.toContain('admin of tests');
  expect(err).toBe('These are the first 1; --limit shows more.\n');
});

test('CSV and JSON have all entries since a time', async () => {
  const csv = (await audit('--csv')).out.split('\n');
  expect(csv[0]).toBe('at,actor,actorKind,address,action,status,details\r');
  const json = (await audit('--json')).out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  // The line of names, and the end of the last line.
  expect(csv).toHaveLength(json.length + 2);
  expect(json[0]).toMatchObject({ at: expect.stringMatching(/^20.*Z$/), action: 'createAdminToken' });
  expect((await audit('--json', '--since', '2100-01-01T00:00:00Z')).out).toBe('');
});

test('entries are selected by a part of the name, and none is told', async () => {
  expect((await audit('--actor', 'ADM')).out).toContain('createAdminToken');
  expect(await audit('--actor', 'nobody')).toEqual({ code: 0, out: '', err: 'There are no such entries.\n' });
});
