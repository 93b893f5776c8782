import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../src/store/sql/sqlite-file.ts';
import { createDatabaseIn } from '../fixtures/data-folder.ts';
import { runJetbridge, temporaryFolder } from '../fixtures/jetbridge.ts';
import { giveToOtherUser, runAsOtherUser } from '../fixtures/other-user.ts';
import { describeOnSqlite } from '../fixtures/test-database.ts';

let folder: ReturnType<typeof temporaryFolder>;
let data: { JETBRIDGE_DATA: string; PORT: string };
let keyFile: string;
let lockFile: string;
beforeEach(() => {
  folder = temporaryFolder();
  chmodSync(folder.path, 0o755);
  data = { JETBRIDGE_DATA: join(folder.path, 'data'), PORT: '0' };
  keyFile = join(data.JETBRIDGE_DATA, 'jetbridge.key');
  lockFile = join(data.JETBRIDGE_DATA, 'jetbridge.lock');
  mkdirSync(data.JETBRIDGE_DATA, { mode: 0o700 });
  createDatabaseIn(data.JETBRIDGE_DATA);
});
afterEach(() => {
  chmodSync(data.JETBRIDGE_DATA, 0o700);
  folder.remove();
});

describeOnSqlite('serve ends with one line', () => {
  test('if jetbridge.key is a folder', async () => {
    mkdirSync(keyFile);
    giveToOtherUser(data.JETBRIDGE_DATA);
    const { code, err } = await runAsOtherUser(['serve'], data);
    expect([code, err]).toEqual([
      1,
      `${keyFile} is a folder, and must be a file. Restore it from a backup, or set JETBRIDGE_KEY.\n`,
    ]);
  });

  test('if its user may not read jetbridge.key', async () => {
    writeFileSync(keyFile, 'a'.repeat(64));
    giveToOtherUser(data.JETBRIDGE_DATA);
    chmodSync(keyFile, 0);
    const { code, err } = await runAsOtherUser(['serve'], data);
    expect([code, err]).toEqual([
      1,
      `${keyFile} cannot be read (EACCES). Run the command as the user of the server, or give that user the right to read it.\n`,
    ]);
  });

  test('if a folder has the name of the database', async () => {
    const data = { JETBRIDGE_DATA: folder.path };
    const database = join(folder.path, 'jetbridge.db');
    mkdirSync(database);
    const { code, err } = await runJetbridge(['serve'], data);
    expect([code, err]).toEqual([
      1,
      `EISDIR: illegal operation on a directory, open '${database}'. There must be a file and not a folder: restore it from a backup, or set JETBRIDGE_DATA to another folder.\n`,
    ]);
  });

  test('if the disk is full after it has begun to write its logs', async () => {
    const database = await openSqlite(join(data.JETBRIDGE_DATA, 'jetbridge.db'));
    database.exec(`
      create trigger full_disk before insert on travel_resource
      begin select raise(abort, 'database or disk is full'); end`);
    database.close();
    giveToOtherUser(data.JETBRIDGE_DATA);
    const { code, err } = await runAsOtherUser(['serve'], data);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^The database in JETBRIDGE_DATA cannot be used: .*Make room on the disk\.\n$/),
    ]);
  });
});

describeOnSqlite('a damaged jetbridge.key', () => {
  test('ends the server with one line', async () => {
    writeFileSync(keyFile, 'xyz\n');
    giveToOtherUser(data.JETBRIDGE_DATA);
    const { code, err } = await runAsOtherUser(['serve'], data);
    expect([code, err]).toEqual([
      1,
      `${keyFile} holds no key. Restore it from a backup, or set JETBRIDGE_KEY.\n`,
    ]);
  });
});

describeOnSqlite('the lock file', () => {
  test('that cannot be written is not taken for a lock of another server', async () => {
    writeFileSync(lockFile, '');
    giveToOtherUser(data.JETBRIDGE_DATA);
    chmodSync(data.JETBRIDGE_DATA, 0o500);
    const { code, err } = await runAsOtherUser(['serve'], data);
    expect([code, err]).toEqual([
      1,
      `The database in JETBRIDGE_DATA cannot be used: the lock file ${lockFile} cannot be used: attempt to write a readonly database. Give Jetbridge the right to write in that folder.\n`,
    ]);
  });

  test('that is damaged is to be deleted', async () => {
    writeFileSync(lockFile, 'no database');
    giveToOtherUser(data.JETBRIDGE_DATA);
    const { code, err } = await runAsOtherUser(['serve'], data);
    expect([code, err]).toEqual([
      1,
      `The database in JETBRIDGE_DATA cannot be used: the lock file ${lockFile} cannot be used: file is not a database. Delete it while no Jetbridge runs.\n`,
    ]);
  });
});

describeOnSqlite('for a user who may not enter the data folder', () => {
  beforeEach(() => chmodSync(data.JETBRIDGE_DATA, 0));

  test.each([['tokens list'], ['requests'], ['preview --people']])('%s says so', async (command) => {
    const { code, err } = await runAsOtherUser(command.split(' '), data);
    const database = join(data.JETBRIDGE_DATA, 'jetbridge.db');
    expect([code, err]).toEqual([
      1,
      `EACCES: permission denied, stat '${database}'. Run the command as the user of the server, or give that user the right to it, or set JETBRIDGE_DATA to a folder of its own.\n`,
    ]);
  });

  test('doctor reports the folder as a fault', async () => {
    const { code, out } = await runAsOtherUser(['doctor'], data);
    expect(code).toBe(1);
    expect(out).toMatch(/^fault {4}database: EACCES: permission denied, stat /m);
    expect(out).toContain(
      `\nfault    data folder: EACCES: permission denied, access '${data.JETBRIDGE_DATA}'. Run this as the user of the server, who must have the right to read and write there.\n`,
    );
  });
});
