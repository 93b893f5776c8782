import { type KyselyPlugin, sql } from 'kysely';
import { deleteConnection } from '../../../src/store/connections.ts';
import { scimTokens } from '../../../src/store/credentials/credentials.ts';
import { imports } from '../../../src/store/identities/imports.ts';
import { waitForLockWaits } from '../../fixtures/lock-waits.ts';
import {
  fixture,
  importedIdentity,
  linkedOutcome,
  NOW,
  type OpenDatabase,
  person,
  team,
  traveler,
} from '../../fixtures/store.ts';
import { describeOnPostgres } from '../../fixtures/test-database.ts';
import { withPlugin } from '../../fixtures/with-plugin.ts';

/** The number of times that a test repeats two concurrent transactions. */
const ROUNDS = 10;

/** Conformance tests of transactions that run at the same time, for any database. */
export function describeConcurrency(open: OpenDatabase): void {
  describe('concurrent transactions', () => {
    it('admit as many departures as the safety valve allows', async () => {
      const { holds } = await fixture(open);
      const valve = { share: 0, minimum: 3, windowMs: 9 };
      const admitted = await Promise.all(
        Array.from({ length: 12 }, (_, at) => holds.admitDeparture('okta', `p${at}`, valve, NOW)),
      );
      expect(admitted.filter(Boolean)).toHaveLength(3);
    });

    it('never let two people manage each other', async () => {
      const { add, references } = await fixture(open);
      for (let round = 0; round < ROUNDS; round += 1) {
        const [one, other] = [`a${round}`, `b${round}`];
        await add(person(one), person(other));
        /** Lets `from` name `to` as the manager, unless `to` already names `from`. */
        const point = (from: string, to: string) =>
          references.update('okta', from, async (read) => {
            const back = (await read(to)).some(({ target }) => target === from);
            return back ? [] : [{ raw: to, target: to, travelId: undefined }];
          });
        const pointed = await Promise.all([point(one, other), point(other, one)]);
        expect(pointed.filter((rows) => rows.length > 0)).toHaveLength(1);
      }
    });

    it('save the references of one identity without mixing them', async () => {
      const { add, references } = await fixture(open);
      await add(person('a'));
      for (let round = 0; round < ROUNDS; round += 1) {
        const lists = ['x', 'y'].map((name) =>
          [1, 2, 3].map((at) => ({ raw: `${name}${round}-${at}`, target: undefined, travelId: undefined })),
        );
        await Promise.all(lists.map((rows) => references.save('okta', 'a', rows)));
        expect(lists).toContainEqual(await references.findRows('okta', 'a'));
      }
    });

    it('change a group one after the other: of two changes at one version, one is stale', async () => {
      const { groups, database } = await fixture(open);
      await groups.insert(team('g'), []);
      for (let version = 1; version <= ROUNDS; version += 1) {
        const change = (value: string) =>
          groups.change(team('g', { version: version + 1 }), version, {
            attributes: { displayName: 'g' },
            members: [{ kind: 'add', members: [{ value: `${value}1` }, { value: `${value}2` }] }],
          });
        const results = await Promise.all([change(`x${version}`), change(`y${version}`)]);
        expect(results.toSorted()).toEqual(['done', 'stale']);
      }
      const rows = await membersOf(database);
      expect(rows).toHaveLength(2 * ROUNDS);
      expect(new Set(rows.map(({ position }) => position)).size).toBe(2 * ROUNDS);
    });

    it('raise the version of a group with every change of its members', async () => {
      const { add, groups, identities, database } = await fixture(open);
      await groups.insert(team('g'), []);
      let version = 1;
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = `p${round}`;
        const user = person(id);
        await add(user);
        const addMember = groups.change(team('g', { version: version + 1 }), version, {
          attributes: { displayName: 'g' },
          members: [{ kind: 'add', members: [{ value: id }] }],
        });
        const removeUser = identities.commit('okta', [
          { kind: 'update', identity: { ...user, version: 2, deletedAt: NOW + 1 }, expected: 1 },
        ]);
        const [added, removed] = await Promise.all([addMember, removeUser]);
        expect(removed).toBe('done');
        const group = await groups.findById('okta', 'g');
        const changes = Number(group?.version) - version;
        const isMember = (await membersOf(database)).some(({ value }) => value === id);
        // The member was added and stays, was added and removed, or the change came too late.
        expect([added, isMember, changes]).toEqual(
          isMember ? ['done', true, 1] : added === 'done' ? ['done', false, 2] : ['stale', false, 0],
        );
        version = Number(group?.version);
      }
    });

    it('leave no records of a deleted connection, and delete none that has new ones', async () => {
      const { database, add } = await fixture(open);
      const token = { name: 'n', connection: 'okta', createdAt: NOW, expiresAt: undefined };
      const [deleted, ...inserted] = await Promise.allSettled([
        deleteConnection(database, { connection: 'okta', now: NOW }),
        ...Array.from({ length: 4 }, (_, at) =>
          scimTokens(database).create({ ...token, id: `t${at}`, hash: `h${at}` }),
        ),
        ...Array.from({ length: 4 }, (_, at) => add(person(`p${at}`))),
      ]);
      const exists = await database.db
        .selectFrom('connection')
        .select('id')
        .where('id', '=', 'okta')
        .execute();
      expect(deleted).toEqual({ status: 'fulfilled', value: exists.length === 0 ? 'done' : 'inUse' });
      if (exists.length > 0) return;
      for (const table of ['identity', 'token'] as const) {
        const rows = await database.db
          .selectFrom(table)
          .select('id')
          .where('connection_id', '=', 'okta')
          .execute();
        expect(rows).toEqual([]);
      }
      expect(inserted).toHaveLength(8);
    });

    it('keep a tombstone that is revived while it expires', async () => {
      const { add, identities, retention } = await fixture(open);
      for (let round = 0; round < ROUNDS; round += 1) {
        const dead = person(`p${round}`, { ...linkedOutcome(`t${round}`, 'x@y'), deletedAt: NOW - 9 });
        await add(dead);
        const revived = { ...dead, version: 2, deletedAt: undefined, state: 'dirty' as const };
        const [result, expired] = await Promise.all([
          identities.commit('okta', [{ kind: 'update', identity: revived, expected: 1 }]),
          retention.expireTombstones('okta', { before: NOW, now: NOW, limit: 9 }),
        ]);
        const left = await identities.findById('okta', dead.id);
        expect([result, expired, left?.deletedAt, left?.version]).toEqual(
          result === 'done' ? ['done', 0, undefined, 2] : ['stale', 1, undefined, undefined],
        );
      }
    });
  });

  describeOnPostgres('overlapping transactions', () => {
    it('never save what an import has read over a later outcome', async () => {
      const { add, database, identities, leases } = await fixture(open);
      const [known, listed, patched] = ['known@x', 'listed@x', 'patched@x'].map((email) =>
        traveler('t1', email),
      );
      await add(person('a', { ...linkedOutcome('t1', 'known@x'), observed: known }));
      let reconciling: Promise<void> | undefined;
      const reconcile = async () => {
        await leases.acquire('okta', 'a', { token: 'k', ms: 1000, now: NOW });
        const outcome = { ...linkedOutcome('t1', 'patched@x'), observed: patched };
        await leases.finish('okta', 'a', 'k', { revision: 1 }, outcome);
      };
      /** After the import has read the row, lets a reconciliation do what it can before the import goes on. */
      const betweenReadAndWrite: KyselyPlugin = {
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          reconciling ??= reconcile();
          for (let turn = 0; turn < 20; turn += 1) await database.ping();
          return result;
        },
      };
      const seen = [{ id: 'a', observed: listed, ...(known ? { before: known } : {}) }];
      await imports(withPlugin(database, betweenReadAndWrite)).saveObserved('okta', seen, NOW);
      await reconciling;
      const { observed } = (await identities.findById('okta', 'a')) ?? {};
      expect([undefined, patched]).toContainEqual(observed);
    });

    it('leave a traveler in one connection if another one links it while an import lists it', async () => {
      const { add, database, imports, leases } = await fixture(open);
      await add(person('a', { connection: 'entra' }));
      await leases.acquire('entra', 'a', { token: 'k', ms: 1000, now: NOW });
      let importing: Promise<void> | undefined;
      await database.transaction(async (tx) => {
        // Holds the import after it has looked for linked travelers, where it counts its rows.
        await sql`lock table list_counter in share mode`.execute(tx);
        importing = imports.saveUnclaimed([importedIdentity('x', 't1')], NOW);
        await waitForLockWaits(database, 1);
        const outcome = linkedOutcome('t1', 'a@corp.example');
        expect(await leases.finish('entra', 'a', 'k', { revision: 1 }, outcome)).toBe('kept');
      });
      await importing;
      const holders = database.db.selectFrom('identity').select(['connection_id', 'id', 'claimed']);
      expect(await holders.where('travel_id', '=', 't1').execute()).toEqual([
        { connection_id: 'entra', id: 'a', claimed: 1 },
      ]);
    });

    it('repeat a statement that was the victim of a deadlock', async () => {
      const { add, database, reconcileQueue } = await fixture(open);
      await add(person('a'), person('b'));
      let marking: Promise<unknown> | undefined;
      await database.transaction(async (tx) => {
        const touch = (id: string) =>
          tx.updateTable('identity').set({ attempts: 1 }).where('id', '=', id).execute();
        await touch('b');
        // On a slow machine the database may choose this transaction as the victim, which then runs again.
        if (!marking) {
          marking = reconcileQueue.markDirty('okta', ['a', 'b'], NOW);
          await waitForLockWaits(database, 1);
        }
        await touch('a');
      });
      await marking;
      expect(await database.db.selectFrom('identity').select('state').execute()).toEqual([
        { state: 'dirty' },
        { state: 'dirty' },
      ]);
    });
  });
}

function membersOf({ db }: Awaited<ReturnType<typeof fixture>>['database']) {
  return db.selectFrom('group_member').select(['value', 'position']).where('group_id', '=', 'g').execute();
}
