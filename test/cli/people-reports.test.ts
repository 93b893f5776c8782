import { ensureConnection } from '../../src/store/connections.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { importedIdentity, NOW, person } from '../fixtures/store.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

let folder: ReturnType<typeof temporaryFolder>;
let database: Database;
beforeEach(async () => {
  folder = temporaryFolder();
  database = await openTestDatabase(folder.path, false);
  await ensureConnection(database, { id: 'okta', account: 'embedded' });
});
afterEach(async () => {
  await database.close();
  folder.remove();
});

const people = (...args: string[]) => runCommandLine(['people', ...args], { JETBRIDGE_DATA: folder.path });

async function add(...identities: ReturnType<typeof person>[]): Promise<void> {
  const { identities: store } = provisioningStore(database);
  for (const identity of identities) await store.commit(identity.connection, [{ kind: 'insert', identity }]);
}

test('travelers without a user are listed, those first that were not changed for the longest time', async () => {
  const imported = (id: string, lastModified: number) => ({
    ...importedIdentity(id, `travel-${id}`),
    connection: 'okta',
    lastModified,
  });
  await add(imported('new', NOW + 2), imported('old', NOW), person('user', { travelId: 'travel-user' }));
  const { out } = await people('unsent', '--csv');
  const [head, ...rows] = out.trim().split('\n');
  expect(head).toMatch(/^connection,id,userName,.*travelUserId,active/);
  expect(rows.map((row) => row.split(',')[1])).toEqual(['old', 'new']);
  const listed = (await people('unsent', '--json')).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(listed).toMatchObject([{ travelId: 'travel-old', isUnmanaged: true }, { travelId: 'travel-new' }]);
});

test('possible duplicates are listed with the command that joins them, where one can take the place of the other', async () => {
  const emails = (...values: string[]) => ({ emails: values.map((value) => ({ value })) });
  const user = (id: string, ...values: string[]) =>
    person(id, { desired: { userName: id, ...emails(...values) } });
  const leaver = user('leaver', 'old@corp.example', 'ada@corp.example');
  leaver.desired['active'] = false;
  const gone = { ...user('gone', 'ada@corp.example'), deletedAt: NOW, state: 'synced' } as const;
  await add(
    { ...leaver, travelId: 'travel-leaver' },
    user('ada', 'ada@corp.example'),
    user('one', 'desk@corp.example'),
    user('two', 'two@corp.example', 'desk@corp.example'),
    gone,
  );
  const rows = (await people('duplicates', '--json')).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows).toMatchObject([
    {
      ...{ kind: 'address', value: 'ada@corp.example', one: { id: 'ada' }, other: { id: 'leaver' } },
      join: 'npx jetbridge people join leaver ada',
    },
    { value: 'desk@corp.example', one: { id: 'one' }, other: { id: 'two' } },
  ]);
  expect(rows[1]).not.toHaveProperty('join');
  expect((await people('duplicates', '--csv')).out).toContain('people join leaver ada');
});

test('without any the reports say so', async () => {
  expect((await people('unsent')).err).toContain('Every traveler has a user.');
  expect((await people('duplicates')).err).toContain('No two people share');
});
