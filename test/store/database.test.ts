import { sql } from 'kysely';
import { ensureConnection } from '../../src/store/connections.ts';
import { scimTokens } from '../../src/store/credentials/credentials.ts';
import { DatabaseInUse, openEmbedded } from '../../src/store/sql/sqlite.ts';
import { NOW } from '../fixtures/store.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { describeOnSqlite, openTestDatabase } from '../fixtures/test-database.ts';
import { describeConcurrency } from './conformance/concurrency.ts';
import { describeConnections } from './conformance/connections.ts';
import { describeCredentials } from './conformance/credentials.ts';
import { describeGroups } from './conformance/groups.ts';
import { describeHolds } from './conformance/holds.ts';
import { describeIdentities } from './conformance/identities.ts';
import { describeIdentityChanges } from './conformance/identity-changes.ts';
import { describeImports } from './conformance/imports.ts';
import { describeLeasedWrites } from './conformance/leased-writes.ts';
import { describeLeases } from './conformance/leases.ts';
import { describeMemberships } from './conformance/memberships.ts';
import { describePeople } from './conformance/people.ts';
import { describeReconcileQueue } from './conformance/reconcile-queue.ts';
import { describeReferences } from './conformance/references.ts';
import { describeReplicas } from './conformance/replicas.ts';
import { describeRulesInForce } from './conformance/rules-in-force.ts';
import { describeTokens } from './conformance/tokens.ts';
import { describeTombstones } from './conformance/tombstones.ts';

const { newFolder, open } = temporaryDatabases('jetbridge-store-');

describe('the store', () => {
  describeIdentities(() => open());
  describeHolds(() => open());
  describeIdentityChanges(() => open());
  describeLeases(() => open());
  describeLeasedWrites(() => open());
  describePeople(() => open());
  describeReconcileQueue(() => open());
  describeImports(() => open());
  describeReferences(() => open());
  describeReplicas(() => open());
  describeRulesInForce(() => open());
  describeTombstones(() => open());
  describeConcurrency(() => open());
  describeGroups(() => open());
  describeMemberships(() => open());
  describeConnections(() => open());
  describeTokens(() => open());
  describeCredentials(() => open());

  it('can be opened by a command while a server runs', async () => {
    const directory = newFolder();
    const serving = await open(directory);
    await ensureConnection(serving, { id: 'okta', account: 'acme' });
    const command = await open(directory, false);
    const token = { id: '1', hash: 'h', name: 'n', connection: 'okta', createdAt: NOW, expiresAt: undefined };
    await scimTokens(command).create(token);
    expect(await scimTokens(serving).findActive('h', NOW)).toMatchObject({ connection: 'okta' });
  });

  it('keeps all data when it is opened again', async () => {
    const directory = newFolder();
    const first = await openTestDatabase(directory, true);
    await ensureConnection(first, { id: 'okta', account: 'acme' });
    await first.close();
    const second = await open(directory);
    await second.ping();
    expect(await second.db.selectFrom('connection').select('id').execute()).toEqual([{ id: 'okta' }]);
  });

  it('rejects a ping once it is closed', async () => {
    const database = await openTestDatabase(newFolder(), true);
    await database.close();
    await expect(database.ping()).rejects.toThrow();
  });

  it('runs statements of a transaction that do not wait for each other in order', async () => {
    const { db, transaction } = await open();
    const read = sql<{ id: string }>`select id from connection order by id`;
    const insert = (id: string) => sql`insert into connection (id, account) values (${id}, 'x')`;
    for (let round = 0; round < 12; round += 1) {
      const [deleted, inserted, found] = await transaction(
        (tx) =>
          Promise.all([sql`delete from connection`.execute(tx), insert('a').execute(tx), read.execute(tx)]),
        { durable: round > 5 },
      );
      expect(deleted.numAffectedRows).toBe(round === 0 ? 0n : 1n);
      expect(inserted.numAffectedRows).toBe(1n);
      expect(found.rows).toEqual([{ id: 'a' }]);
    }
    await transaction((tx) => insert('b').execute(tx));
    expect((await read.execute(db)).rows).toEqual([{ id: 'a' }, { id: 'b' }]);
  });

  it('stores nothing of a transaction of which a statement fails, and goes on', async () => {
    const { db, transaction, isDuplicate } = await open();
    const insert = (...ids: string[]) =>
      transaction((tx) =>
        Promise.all(
          ids.map((id) => sql`insert into connection (id, account) values (${id}, 'x')`.execute(tx)),
        ),
      );
    for (let round = 0; round < 12; round += 1) {
      const failing = await Promise.allSettled([insert('a', 'b', 'a')]);
      expect(failing.map((one) => one.status === 'rejected' && isDuplicate(one.reason))).toEqual([true]);
      expect(await db.selectFrom('connection').select('id').execute()).toEqual([]);
    }
    await insert('a');
    expect(await db.selectFrom('connection').select('id').execute()).toEqual([{ id: 'a' }]);
  });

  it('recognizes unique violations, and no other errors, as duplicates', async () => {
    const { db, isDuplicate } = await open();
    const insert = (id: string | null) =>
      sql`insert into connection (id, account) values (${id}, ${id})`.execute(db);
    await insert('a');
    const [twin, empty] = await Promise.allSettled([insert('a'), insert(null)]);
    expect(twin.status === 'rejected' && isDuplicate(twin.reason)).toBe(true);
    expect(empty.status === 'rejected' && isDuplicate(empty.reason)).toBe(false);
  });
});

describeOnSqlite('the embedded database', () => {
  it('syncs every commit to the disk before it is acknowledged', async () => {
    const { db } = await open();
    const pragma = async (name: string) => {
      const { rows } = await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(db);
      return Object.values(rows[0] ?? {})[0];
    };
    expect(await pragma('journal_mode')).toBe('wal');
    expect(await pragma('synchronous')).toBe(2);
    expect(await pragma('foreign_keys')).toBe(1);
    expect(await pragma('busy_timeout')).toBe(5000);
  });

  it('refuses a second process that serves from the directory, until the first one is closed', async () => {
    const directory = newFolder();
    const first = await openEmbedded(directory, true);
    await expect(openEmbedded(directory, true)).rejects.toThrow(DatabaseInUse);
    await expect(openEmbedded(directory, true)).rejects.toThrow(/is in use by another Jetbridge/);
    await first.close();
    await open(directory);
  });

  it('reports why a transaction failed that SQLite has rolled back itself', async () => {
    const { db, transaction } = await open();
    const failing = transaction(async (tx) => {
      await sql`rollback`.execute(tx);
      throw new Error('disk is full');
    });
    await expect(failing).rejects.toThrow('disk is full');
    await sql`select 1`.execute(db);
  });
});
