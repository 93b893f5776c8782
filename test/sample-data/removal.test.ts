import { randomBytes, randomUUID } from 'node:crypto';
import { removeSampleData } from '../../src/sample-data/removal.ts';
import { createSampleData } from '../../src/sample-data/sample-data.ts';
import { travelStore } from '../../src/store/travel/travel-writes.ts';
import { create } from '../../src/travel/changes.ts';
import { user } from '../../src/travel/resources/user.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const databases = temporaryDatabases('jetbridge-removal-');

const now = Date.UTC(2026, 10, 20);

test('everything of one company is removed, and what others refer to or have is not', async () => {
  const store = travelStore(await databases.open());
  const travel = {
    ...{ store, now: () => now, onChange: () => {} },
    newId: (form: 'A' | 'B') => (form === 'A' ? randomBytes(12).toString('hex') : randomUUID()),
  };
  const [removed, other] = [1, 2];
  for (const seed of [removed, other])
    await createSampleData(
      { store, pause: async () => 500, progress: () => {} },
      { users: 8, trips: 15, seed, now },
    );
  const idsOf = async (type: string) => {
    const query = { type, parentId: '', order: 'asc', offset: 0, limit: 500 } as const;
    return (await store.page(query)).resources.map(({ id }) => id);
  };
  const types = ['user', 'tripProject', 'billingOperation', 'invoice', 'refund', 'customField', 'costCenter'];
  const before = await Promise.all(types.map(idsOf));
  const [billingProfileId = ''] = await idsOf('billingProfile');
  // A person of another company, whose billing profile is that of the one to be removed.
  const body = { email: 'eve@corp.example', billingProfileId };
  const eve = await create({ resource: user, deps: travel }, { parentId: '', id: '', caller: '' }, body);

  const removal = await removeSampleData({ ...travel, pause: async () => {} }, removed);
  expect(Object.fromEntries(removal.kept)).toEqual({ billingProfile: 1, travelPolicy: 1 });
  expect(removal.removed.get('user')).toBe(8);
  expect(removal.removed.get('tripProject')).toBe(15);
  const after = await Promise.all(types.map(idsOf));
  for (const [position, type] of types.entries()) {
    const count = removal.removed.get(type) ?? 0;
    const added = type === 'user' ? 1 : 0;
    expect([type, after[position]?.length]).toEqual([type, (before[position]?.length ?? 0) - count + added]);
  }
  expect(after[0]).toContain(eve['id']);
  await removeSampleData({ ...travel, pause: async () => {} }, other);
  expect(
    await Promise.all(['tripProject', 'billingOperation', 'invoice', 'refund', 'dispute'].map(idsOf)),
  ).toEqual([...[[], [], [], [], []]]);
});
