import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { backUp } from '../../src/store/backup/backup.ts';
import { BackupFault, createBackupFile, FORMAT, writeBackup } from '../../src/store/backup/backup-file.ts';
import { restoreBackup } from '../../src/store/backup/restore.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { tables } from '../../src/store/migrations/index.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { type DatabaseLocation, openDatabase } from '../../src/store/sql/open-database.ts';
import { DatabaseInUse, openEmbedded } from '../../src/store/sql/sqlite.ts';
import { fillStatements, rowsOf, TEXT } from '../fixtures/full-tables.ts';
import { person } from '../fixtures/store.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { describeOnPostgres, describeOnSqlite, emptyLocation } from '../fixtures/test-database.ts';

const maker = { jetbridge: '0.1.0', madeAt: '2026-11-29T08:00:00.000Z', key: 'ab12cd34' };
/** Tables whose rows no backup has. */
const leftOut = ['replica', 'write_probe', 'admin_session', 'oauth_token'];

const { newFolder, open } = temporaryDatabases('jetbridge-backup-');
let folder: string;
let file: string;
let data: string;
let database: Database;
beforeEach(async () => {
  folder = newFolder();
  data = newFolder();
  file = join(folder, 'one.backup');
  database = await open(data, false);
  for (const statement of fillStatements(tables)) await sql.raw(statement).execute(database.db);
});

/** More people than a page of rows has. */
async function addPeople(count: number): Promise<void> {
  await ensureConnection(database, { id: 'okta', account: 'acme' });
  const identities = Array.from({ length: count }, (_, index) => person(`p${index}`));
  const changes = identities.map((identity) => ({ kind: 'insert', identity }) as const);
  expect(await provisioningStore(database).identities.commit('okta', changes)).toBe('done');
}

async function withDatabaseAt<T>(place: DatabaseLocation, work: (one: Database) => Promise<T>): Promise<T> {
  const opened = await openDatabase(place, { exclusive: false });
  return work(opened).finally(() => opened.close());
}

const lines = () => gunzipSync(readFileSync(file)).toString('utf8').split('\n');
const rewrite = (changed: string[]) => writeFileSync(file, gzipSync(changed.join('\n')));

/** Corrects the ends of tables whose rows a test has changed. */
function withDigest(changed: string[]): string[] {
  let rows: string[] = [];
  return changed.map((line, index) => {
    if (index === 0 || line === '') return line;
    if (line.startsWith('[')) {
      rows.push(line);
      return line;
    }
    const sha256 = createHash('sha256')
      .update(rows.map((row) => `${row}\n`).join(''))
      .digest('hex');
    const end = { ...JSON.parse(line), rows: rows.length, sha256 };
    rows = [];
    return JSON.stringify(end);
  });
}

/** The values of a column in the backup. */
function columnOf(table: string, column: string): unknown[] {
  const [first = '', ...others] = lines();
  const place = JSON.parse(first).tables[table].indexOf(column);
  const end = others.findIndex((line) => line.startsWith(`{"table":"${table}"`));
  const begin = others.slice(0, end).findLastIndex((line) => line.startsWith('{')) + 1;
  return others.slice(begin, end).map((line) => JSON.parse(line)[place]);
}

test('a restored database has every row of the backup, and is marked as restored', async () => {
  await addPeople(450);
  const imported = { kind: 'insert', identity: { ...person('imported'), claimed: false } } as const;
  expect(await provisioningStore(database).identities.commit('okta', [imported])).toBe('done');
  const { header, tables: ends } = await backUp(database, file, maker);
  expect(header).toMatchObject({ ...maker, format: FORMAT, connections: ['okta', TEXT], people: 450 });
  const place = await emptyLocation(join(folder, 'restored'));
  expect((await restoreBackup(place, file)).tables).toEqual(ends);
  const before = await rowsOf(database);
  const after = await withDatabaseAt(place, (one) => rowsOf(one));
  for (const table of leftOut) before[table] = [];
  expect(before['identity']).toHaveLength(452);
  expect(after).toEqual(before);
});

test('the database is marked as restored until a server has followed', async () => {
  await database.db.updateTable('database_record').set({ restored: 0 }).execute();
  await backUp(database, file, maker);
  const place = await emptyLocation(join(folder, 'restored'));
  await restoreBackup(place, file);
  const marks = await withDatabaseAt(place, ({ db }) =>
    db.selectFrom('database_record').select('restored').execute(),
  );
  expect(marks).toEqual([{ restored: 1 }]);
});

test('a backup is a file that only its owner can read, and nothing else stays behind', async () => {
  await backUp(database, file, maker);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).filter((name) => name.includes('backup'))).toEqual(['one.backup']);
});

test('a backup shows one moment, although others write while it is made', async () => {
  await addPeople(450);
  const other = await open(data, false);
  let writes = 0;
  const write = async () => {
    writes += 1;
    const text = String(writes);
    await other.transaction(async (tx) => {
      await tx.updateTable('connection').set({ settings: text }).execute();
      await tx.updateTable('audit_entry').set({ details: text }).execute();
    });
  };
  await write();
  let isMade = false;
  const making = backUp(database, file, maker).finally(() => {
    isMade = true;
  });
  while (!isMade) await write();
  await making;
  const [first] = columnOf('connection', 'settings');
  expect(columnOf('audit_entry', 'details')).toEqual([first]);
  expect(Number(first)).toBeLessThan(writes);
});

test('a file that exists is left as it is', async () => {
  writeFileSync(file, 'other');
  await expect(backUp(database, file, maker)).rejects.toThrow(
    `${file} exists already, and is left as it is.`,
  );
  expect(readFileSync(file, 'utf8')).toBe('other');
});

test('a backup that cannot be written leaves nothing behind', async () => {
  const written = createBackupFile(file, async (temporary) => {
    writeFileSync(temporary, gzipSync(''));
    throw new Error('the disk is full');
  });
  await expect(written).rejects.toThrow('the disk is full');
  await expect(backUp(database, join(folder, 'none', 'one.backup'), maker)).rejects.toThrow(BackupFault);
  expect(readdirSync(folder).filter((name) => name.includes('backup'))).toEqual([]);
  await database.ping();
});

test('a file that was written otherwise than it was meant is no backup', async () => {
  const written = createBackupFile(file, async (temporary) => {
    const header = {
      ...maker,
      format: FORMAT,
      connections: [],
      people: 0,
      tables: { connection: ['id'] },
    } as const;
    const whole = await writeBackup(
      temporary,
      { ...header, connections: [], tables: { connection: ['id'] } },
      oneRow,
    );
    return { ...whole, tables: whole.tables.map((end) => ({ ...end, rows: end.rows + 1 })) };
  });
  await expect(written).rejects.toThrow('was not written as it was meant to be');
  expect(readdirSync(folder).filter((name) => name.includes('backup'))).toEqual([]);
});

async function* oneRow(): AsyncGenerator<unknown[][]> {
  yield [['okta']];
}

describe('a file that is no whole backup is refused, and the place stays without data', () => {
  const changes: [title: string, change: () => void, fault: string][] = [
    ['is cut', () => writeFileSync(file, readFileSync(file).subarray(0, -9)), 'unexpected end of file'],
    ['is something else', () => writeFileSync(file, 'no gzip'), 'incorrect header check'],
    ['has another first line', () => rewrite(['{}', ...lines().slice(1)]), 'its first line is another one'],
    ['lacks its end', () => rewrite(lines().slice(0, -2)), 'it ends too early'],
    ['has one row less', () => rewrite(lines().toSpliced(1, 1)), 'has other rows'],
    [
      'has another value',
      () => rewrite(lines().map((line, index) => (index === 1 ? line.replace('1', '2') : line))),
      'the table connection has other rows',
    ],
    ['goes on', () => rewrite([...lines().slice(0, -1), '[]', '']), 'it goes on after its end'],
  ];

  test.each(changes)('one that %s', async (_title, change, fault) => {
    await backUp(database, file, maker);
    change();
    const place = await emptyLocation(join(folder, 'restored'));
    const restoring = restoreBackup(place, file);
    await expect(restoring).rejects.toThrow(BackupFault);
    await expect(restoring).rejects.toThrow(fault);
    const rows = await withDatabaseAt(place, (one) => rowsOf(one));
    expect(Object.values(rows).flat()).toEqual([]);
  });

  test('one with a column of a newer version', async () => {
    await backUp(database, file, maker);
    const newer = (line: string) => line.replace('"mode"', '"mode_of_2030"').replace('"0.1.0"', '"9.0.0"');
    rewrite(lines().map((line, index) => (index === 0 ? newer(line) : line)));
    await expect(restoreBackup(await emptyLocation(join(folder, 'restored')), file)).rejects.toThrow(
      'was made by version 9.0.0 of Jetbridge. Restore it with that version.',
    );
  });

  test('one that does not exist', async () => {
    await expect(restoreBackup(await emptyLocation(join(folder, 'restored')), file)).rejects.toThrow(
      `${file} cannot be read: ENOENT`,
    );
  });
});

test('a backup of a version without a column is restored, and the column has its default', async () => {
  await backUp(database, file, maker);
  const older = lines().map((line, index) => {
    if (index === 0) return line.replace('"settings","read_bodies_until"', '"settings"');
    return index === 1 ? JSON.stringify(JSON.parse(line).slice(0, -1)) : line;
  });
  rewrite(withDigest(older));
  const place = await emptyLocation(join(folder, 'restored'));
  await restoreBackup(place, file);
  const rows = await withDatabaseAt(place, ({ db }) =>
    db.selectFrom('connection').select(['id', 'read_bodies_until']).execute(),
  );
  expect(rows).toEqual([{ id: TEXT, read_bodies_until: null }]);
});

test('a place that has data is left as it is', async () => {
  await backUp(database, file, maker);
  const place = await emptyLocation(join(folder, 'restored'));
  await restoreBackup(place, file);
  const before = await withDatabaseAt(place, (one) => rowsOf(one));
  await expect(restoreBackup(place, file)).rejects.toThrow(
    'has data already. A backup is restored into an empty folder or database.',
  );
  expect(await withDatabaseAt(place, (one) => rowsOf(one))).toEqual(before);
});

test('a restore that fails halfway leaves an empty database, into which it can be repeated', async () => {
  await backUp(database, file, maker);
  const whole = readFileSync(file);
  // The member of a group that is missing violates a foreign key, long after the first rows were inserted.
  const group = lines().findIndex((line) => line.startsWith('{"table":"scim_group"')) - 1;
  rewrite(withDigest(lines().toSpliced(group, 1)));
  const place = await emptyLocation(join(folder, 'restored'));
  await expect(restoreBackup(place, file)).rejects.toThrow(/foreign key/i);
  expect(Object.values(await withDatabaseAt(place, (one) => rowsOf(one))).flat()).toEqual([]);
  writeFileSync(file, whole);
  await restoreBackup(place, file);
});

describeOnSqlite('in a data folder', () => {
  test('a restore is refused while a server runs, whose lock it respects', async () => {
    await backUp(database, file, maker);
    const place = await emptyLocation(join(folder, 'restored'));
    const server = await openEmbedded(place.data, true);
    await expect(restoreBackup(place, file)).rejects.toThrow(DatabaseInUse);
    await server.close();
    await restoreBackup(place, file);
  });
});

describeOnPostgres('between the databases', () => {
  test('a backup of SQLite is restored into PostgreSQL, and one of that into SQLite', async () => {
    await backUp(database, file, maker);
    const embedded = { data: join(folder, 'embedded'), postgres: undefined };
    await restoreBackup(embedded, file);
    const second = join(folder, 'two.backup');
    const { tables: ends } = await withDatabaseAt(embedded, (one) => backUp(one, second, maker));
    const place = await emptyLocation(join(folder, 'restored'));
    await restoreBackup(place, second);
    const third = await withDatabaseAt(place, (one) => backUp(one, join(folder, 'three.backup'), maker));
    expect(third.tables).toEqual(ends);
  });
});
