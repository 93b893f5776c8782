import { sql } from 'kysely';
import type { Evidence } from '../../model/people.ts';
import { inScope } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { yieldToEventLoop } from '../sql/queries.ts';
import { evidenceOf, inRange, personKeys } from '../sql/search-keys.ts';

/** Two people who share something, each by connection and id. */
export interface PossibleDuplicate {
  one: PersonKey;
  other: PersonKey;
  shared: Evidence;
}

interface PersonKey {
  connection: string;
  id: string;
}

/** The keys that one step compares. Other statements run between two of them. */
const STEP = 1_000;

/**
 * Compares the keys of a connection that follow one with those of its travel account, in one step. Of several people with one key, each is
 * paired with the next one: a placeholder that all have is no square of them. `next` is the last key; undefined at the end.
 */
export async function findDuplicates(
  { db, scopeOf, scopes }: Database,
  connection: string,
  after: string,
): Promise<{ pairs: PossibleDuplicate[]; next: string | undefined }> {
  const scope = scopeOf(connection);
  const beside = scopes.ids().filter((id) => scopeOf(id).account === scope.account);
  const following = sql`from identity_email as one where ${inScope(scope, 'one')} and one.email_key > ${after}`;
  const end = sql<{ key: string }>`select one.email_key as key ${following}
    order by one.email_key limit 1 offset ${sql.lit(STEP - 1)}`;
  const next = (await end.execute(db)).rows[0]?.key;
  // No connection has a space in its name.
  const { rows } = await sql<{ key: string; id: string; other: string }>`select * from (
    select one.email_key as key, one.identity_id as id,
      (select other.connection_id || ' ' || other.identity_id from identity_email as other
        where other.account = one.account and other.connection_id in (${sql.join(beside)})
          and other.email_key = one.email_key
          and exists (select 1 from identity where identity.account = other.account
            and identity.connection_id = other.connection_id and identity.id = other.identity_id
            and identity.deleted_at is null)
          and (other.connection_id, other.identity_id) > (one.connection_id, one.identity_id)
        order by other.connection_id, other.identity_id limit 1) as other
    ${following} ${next === undefined ? sql`` : sql`and one.email_key <= ${next}`}
      and not (${inRange('one.email_key', personKeys)})) as compared
    where other is not null order by key, id`.execute(db);
  await yieldToEventLoop();
  const pairs = rows.map(({ key, id, other }) => {
    const space = other.indexOf(' ');
    return {
      one: { connection, id },
      other: { connection: other.slice(0, space), id: other.slice(space + 1) },
      shared: evidenceOf(key),
    };
  });
  return { pairs, next };
}
