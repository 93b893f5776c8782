import { statisticsOfIdentities } from '../../src/store/sql/table-statistics.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const databases = temporaryDatabases('jetbridge-statistics-');

test.each([
  ['one by one', Array.from({ length: 1_200 }, () => 1), 500],
  ['in batches', [200, 200, 1_000, 1_000], 3],
  ['in one batch', [1_000, 1_000], 1],
])(
  'the statistics are updated once when 500 identities were inserted %s',
  async (_title, inserts, expected) => {
    const database = await databases.open();
    const updates: number[] = [];
    let insertion = 0;
    const dialect = {
      ...database.dialect,
      updateStatistics: async () => void updates.push(insertion),
    };
    const updateStatistics = statisticsOfIdentities({ ...database, dialect });
    for (const count of inserts) {
      insertion += 1;
      await updateStatistics(count);
    }
    expect(updates).toEqual([expected]);
  },
);
