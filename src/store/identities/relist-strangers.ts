import { type Kysely, sql } from 'kysely';
import type { Origin } from '../../model/identity.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { takeDeletedMembers } from '../lists/deleted-members.ts';
import { countIdentities } from '../lists/list-counters.ts';
import { parseJson, toJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';
import { deleteUnclaimed } from './delete-identities.ts';
import { recordColumns } from './identity-row.ts';
import { isUserNameTaken } from './unclaimed-identities.ts';

/**
 * Makes deleted people live again whom no IdP has ever sent: an admin has discarded the deletion. A person whose userName another
 * user has by now is removed instead; an import lists the person again once the name is free. Must run in the transaction of the
 * decision.
 */
export async function relistStrangers(tx: Kysely<Tables>, scope: Scope, ids: string[]): Promise<void> {
  const rows = await tx
    .selectFrom('identity')
    .select(['id', 'user_name_key', 'origin', 'active', 'claimed', 'deleted_at'])
    .where(inScope(scope))
    .where('id', 'in', ids)
    .where('claimed', '=', sql.lit(0))
    .where('deleted_at', 'is not', null)
    .execute();
  for (const before of rows) {
    const { id } = before;
    if (await isUserNameTaken(tx, scope, before))
      await deleteUnclaimed(tx, (row) => row.and([inScope(scope), row('id', '=', id)]));
    else {
      await updateToListed(tx, scope, before);
      await countIdentities(tx, scope, [{ before, now: { ...before, deleted_at: null } }]);
    }
  }
}

/** A running attempt may still save its outcome; the identity is then reconciled once more, because its revision is another one. */
async function updateToListed(
  tx: Kysely<Tables>,
  scope: Scope,
  { id, origin }: Pick<Tables['identity'], 'id' | 'origin'>,
): Promise<void> {
  const { departure: _, ...kept } = parseJson<Origin>(origin);
  await takeDeletedMembers(tx, scope, id);
  await tx
    .updateTable('identity')
    .set((row) => ({
      ...recordColumns({ applied: {}, readAgainAt: undefined }),
      progress: toJson({}),
      deleted_at: null,
      hold_cause: null,
      hold_since: null,
      decision: '',
      state: 'synced',
      findings: '[]',
      finding_codes: '',
      origin: toJson(kept),
      version: row('version', '+', 1),
      revision: row('revision', '+', 1),
      // The next import translates the traveler again.
      rules_generation: 0,
    }))
    .where(inScope(scope))
    .where('id', '=', id)
    .execute();
}
