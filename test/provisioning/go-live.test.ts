import { rmSync } from 'node:fs';
import { connectionModes } from '../../src/store/connection-modes.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { createDataFolder, isOnPostgres } from '../fixtures/data-folder.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { approve, report, toShadow } from '../fixtures/shadow.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { afterUpdate, failAt } from '../fixtures/triggers.ts';

const users = 'default';
const HOUR_MS = 3_600_000;

async function withFolder(
  test: (fixture: ProvisioningFixture, folder: string, database: Database) => Promise<void>,
) {
  const folder = createDataFolder('jetbridge-');
  const database = await openTestDatabase(folder);
  const policies = { safetyValve: { share: 0, minimum: 3, windowMs: HOUR_MS } };
  try {
    await withFixture((fixture) => test(fixture, folder, database), { database, policies });
  } finally {
    await database.close();
    rmSync(folder, { recursive: true });
  }
}

/** Each makes the commit of going live fail at one of its statements, as the end of the process at that moment would. */
const failures: [string, (folder: string) => Promise<{ mend(): Promise<void> }>][] = [
  ['the mode', (folder) => failAt(folder, 'update on connection')],
  [
    'an approval',
    (folder) =>
      afterUpdate(folder, {
        ...{ table: 'identity', when: 'new.decision <> old.decision' },
        statement: isOnPostgres() ? "raise exception 'stay'" : "select raise(abort, 'stay')",
      }),
  ],
];

test.each(failures)(
  'going live that ends at %s leaves no approval behind, and the mode as it was',
  (_, fail) =>
    withFolder(async (fixture, folder) => {
      const { bridge, store, clock } = fixture;
      const ids: string[] = [];
      for (const name of ['One', 'Two', 'Three', 'Four', 'Five'])
        ids.push((await bridge.users.create(users, person(name))).id);
      await toShadow(fixture);
      for (const id of ids) await fixture.patch(id, { active: false });
      const { digest, sums } = await report(fixture);
      expect(sums).toMatchObject({ end: 5 });
      const { mend } = await fail(folder);
      await expect(approve(fixture, digest)).rejects.toThrow('stay');
      await mend();
      expect(await store.modes.readShadow(users)).toBeDefined();
      await store.modes.change(users, { to: 'live', now: clock.now() });
      await fixture.reconcileAfter(0);
      const states = await Promise.all(ids.map(async (id) => (await fixture.identity(id)).state));
      expect(states.toSorted()).toEqual(['held', 'held', 'synced', 'synced', 'synced']);
    }),
);

test('a process that learns late that a connection is live has everybody tried again', () =>
  withFolder(async (fixture, _, database) => {
    const { id } = await fixture.bridge.users.create(users, person('One'));
    await toShadow(fixture);
    const other = connectionModes(database);
    await other.refresh(fixture.clock.now());
    const { digest } = await report(fixture);
    await approve(fixture, digest);
    expect(await fixture.identity(id)).toMatchObject({ state: 'synced' });
    await other.refresh(fixture.clock.now());
    expect(await fixture.identity(id)).toMatchObject({ state: 'dirty' });
  }));
