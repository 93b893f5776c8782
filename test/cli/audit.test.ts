import { showAudit } from '../../src/cli/audit.ts';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { type RecordedShell, recordedShell } from '../fixtures/shell.ts';

let fixture: AdminFixture;
let shell: RecordedShell;
beforeAll(async () => {
  // It signs in, and creates two tokens.
  fixture = await startAdmin();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  shell = await recordedShell({ JETBRIDGE_DATA: fixture.service.data });
});

/** Runs the command and returns its standard output. */
async function audit(flags: Partial<Parameters<typeof showAudit>[1]>): Promise<string> {
  expect(await showAudit(shell, { limit: 50, ...flags })).toBe(0);
  return shell.out.splice(0).join('\n');
}

test('the table has the newest entries first, up to a limit', async () => {
  const table = await audit({ limit: 1, action: 'createAdminToken' });
  expect(table).toMatch(
    /│ admin +│ account +│ 127\.0\.0\.1 +│ createAdminToken +│ .*viewer of tests.* +│ 200 +│/,
  );
  expect(table).not.toContain('admin of tests');
  expect(shell.err).toEqual(['These are the newest 1; --limit shows more.']);
});

test('CSV and JSON have all entries since a time', async () => {
  const csv = (await audit({ csv: true })).split('\n');
  expect(csv[0]).toBe('at,actor,actorKind,address,action,status,details\r');
  const json = (await audit({ json: true, limit: 1 })).split('\n').map((line) => JSON.parse(line));
  expect(csv).toHaveLength(json.length + 1);
  expect(json[0]).toMatchObject({ at: expect.stringMatching(/^20.*Z$/), action: 'createAdminToken' });
  expect(await audit({ json: true, since: Date.now() + 60_000 })).toBe('');
});

test('entries are selected by a part of the name, and none is told', async () => {
  expect(await audit({ actor: 'ADM' })).toContain('createAdminToken');
  expect(await audit({ actor: 'nobody' })).toBe('');
  expect(shell.err).toEqual(['There are no such entries.']);
});
