import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { Identity } from '../bridge/identity.ts';
import type { IdentityTable } from './bridge-tables.ts';
import { liveOf, recount } from './census.ts';
import { replaceEmails } from './identity-emails.ts';
import { desiredColumns, observedColumns } from './identity-row.ts';
import { fromText } from './json.ts';
import type { Tables } from './tables.ts';

/** What is kept of an unclaimed identity, as far as its traveler decides it. */
export type Known = Pick<
  IdentityTable,
  'id' | 'version' | 'desired' | 'observed' | 'position' | 'active' | 'deleted_at'
>;

/** What is kept, and what the traveler makes of it now. */
interface Sight {
  before: Known;
  identity: Identity;
}

/** Lets unclaimed identities of one connection become what their travelers are; most are that already. */
export async function followTravelers(tx: Kysely<Tables>, sights: Sight[], seenAt: number): Promise<void> {
  const [first] = sights;
  if (!first) return;
  const { connection } = first.identity;
  const { rulesVersion = '' } = first.identity;
  const mark = tx.updateTable('identity').set({ seen_at: seenAt, rules_version: rulesVersion });
  const ids = sights.map(({ before }) => before.id);
  await mark.where('connection_id', '=', connection).where('id', 'in', ids).execute();
  for (const sight of sights) {
    if (
      !isSame(sight.before.observed, sight.identity.observed) ||
      !isSame(sight.before.desired, sight.identity.desired)
    ) {
      await follow(tx, sight);
    }
  }
}

function isSame(kept: string | null, now: unknown): boolean {
  return isDeepStrictEqual(kept === null ? undefined : fromText(kept), now);
}

/** Version and lastModified are raised only when the person, as an IdP sees them, has changed. */
async function follow(tx: Kysely<Tables>, { before, identity }: Sight): Promise<void> {
  const { connection, desired, observed, lastModified } = identity;
  const isNews = !isSame(before.desired, desired);
  const follows = isNews && !(await isNameTaken(tx, { ...identity, id: before.id }));
  const news = { ...desiredColumns(desired), version: before.version + 1, last_modified: lastModified };
  const { numUpdatedRows } = await tx
    .updateTable('identity')
    // Who is not as the traveler is because a name is taken must be looked at again: no rules made this of it.
    .set({ ...observedColumns(observed), ...(follows ? news : isNews ? { rules_version: '' } : {}) })
    .where('connection_id', '=', connection)
    .where('id', '=', before.id)
    .where('claimed', '=', 0)
    .where('version', '=', before.version)
    .executeTakeFirst();
  if (!follows || numUpdatedRows === 0n) return;
  await replaceEmails(tx, { connection, id: before.id, desired });
  if (before.active === news.active) return;
  const was = { ...before, live: liveOf(before) };
  await recount(tx, connection, [{ before: was, now: { ...was, active: news.active } }]);
}

/** The old desired state stays while somebody else has the userName: a name is never shown twice. */
async function isNameTaken(tx: Kysely<Tables>, { connection, id, desired }: Identity): Promise<boolean> {
  const { user_name_key } = desiredColumns(desired);
  if (user_name_key === null) return false;
  const other = await tx
    .selectFrom('identity')
    .select('id')
    .where('connection_id', '=', connection)
    .where('user_name_key', '=', user_name_key)
    .where('deleted_at', 'is', null)
    .where('id', '<>', id)
    .executeTakeFirst();
  return other !== undefined;
}
