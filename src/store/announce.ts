import type { Announcement } from '../bridge/ports.ts';
import { atomically } from './atomically.ts';
import type { Database } from './database.ts';
import { clearWay, type Held } from './finish.ts';
import { release } from './identity-changes.ts';
import { creatingColumns, observedColumns, progressColumns } from './identity-row.ts';
import { toText } from './json.ts';

/** Keeps an announcement under the token. Of two who would have one address or one traveler, the index lets one pass. */
export async function announce(
  { db, isDuplicate }: Database,
  held: Held,
  news: Announcement,
): Promise<'done' | 'lost' | 'taken'> {
  const { connection, id, token } = held;
  try {
    return await atomically<'done' | 'lost' | 'taken'>(db, ['done'], async (tx) => {
      if ('travelId' in news && news.from && !(await release(tx, news.from))) return 'taken';
      const obstacle = 'travelId' in news ? await clearWay(tx, held, news.travelId) : undefined;
      if (obstacle) return obstacle;
      const { numUpdatedRows } = await tx
        .updateTable('identity')
        .set({ ...columnsOf(news), ...(news.progress ? progressColumns(news.progress) : {}) })
        .where('connection_id', '=', connection)
        .where('id', '=', id)
        .where('lease_token', '=', token)
        .executeTakeFirst();
      return numUpdatedRows > 0n ? 'done' : 'lost';
    });
  } catch (error) {
    if (isDuplicate(error)) return 'taken';
    throw error;
  }
}

/** Either a traveler is linked or a create is open, never both: who is made anew has lost the old one. */
function columnsOf(news: Announcement) {
  if ('travelId' in news)
    return { travel_id: news.travelId, applied: toText(news.applied), ...creatingColumns(undefined) };
  if (!('creating' in news)) return {};
  if (news.creating === undefined) return creatingColumns(undefined);
  return { travel_id: null, ...observedColumns(undefined), ...creatingColumns(news.creating) };
}
