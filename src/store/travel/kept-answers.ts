import { type Kysely, sql } from 'kysely';
import type { JsonObject } from '../../schema/resource.ts';
import type { KeptAnswer, RepeatableRequest } from '../../travel/ports.ts';
import type { Encryption } from '../credentials/encryption.ts';
import { batches, compiledQuery, parseJson, pick, toJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** Returns what was answered to a request with this key after `since`, in epoch milliseconds. */
export async function findAnswer(
  db: Kysely<Tables>,
  encryption: Encryption,
  { owner, key, since }: { owner: string; key: string; since: number },
): Promise<KeptAnswer | undefined> {
  const { rows } = await selectAnswer(db, { owner, key, since });
  const [row] = rows;
  if (!row) return undefined;
  const text = isPlain(row.data) ? row.data : encryption.decrypt(row.data, placeOf({ owner, key }));
  return { request: row.request, data: text === undefined ? undefined : parseJson(text) };
}

const selectAnswer = compiledQuery(
  (db, { owner, key, since }: { owner: string; key: string; since: number }) =>
    db
      .selectFrom('travel_answer')
      .select(['request', 'data'])
      .where('owner', '=', owner)
      .where('key', '=', key)
      .where('created_at', '>', since),
);

/** Keeps the answer to a request. Returns false if another request with this key was answered after `since`. */
export async function keepAnswer(
  tx: Kysely<Tables>,
  encryption: Encryption,
  { once, data, hasSecret }: { once: RepeatableRequest; data: JsonObject; hasSecret: boolean },
): Promise<boolean> {
  const { owner, key, request, at, since } = once;
  const text = toJson(data);
  const stored = hasSecret ? encryption.encrypt(text, placeOf(once)) : text;
  const { rows } = await insertAnswer(tx, { owner, key, request, data: stored, created_at: at, since });
  return rows.length > 0;
}

const insertAnswer = compiledQuery((db, values: Tables['travel_answer'] & { since: number }) =>
  db
    .insertInto('travel_answer')
    .values(pick(values, ['owner', 'key', 'request', 'data', 'created_at']))
    .onConflict((same) =>
      same
        .columns(['owner', 'key'])
        .doUpdateSet({
          request: sql<string>`excluded.request`,
          data: sql<string>`excluded.data`,
          created_at: sql<number>`excluded.created_at`,
        })
        .where('travel_answer.created_at', '<=', values.since),
    )
    .returning('key'),
);

/** Deletes the answers with data that `isMeant` is true for. Encrypted ones have the secret of a webhook and name nobody. */
export async function forgetAnswers(
  tx: Kysely<Tables>,
  isMeant: (data: JsonObject) => boolean,
): Promise<void> {
  const rows = await tx.selectFrom('travel_answer').select(['owner', 'key', 'data']).execute();
  const meant = rows.filter(({ data }) => isPlain(data) && isMeant(parseJson(data)));
  for (const { owner, key } of meant)
    await tx.deleteFrom('travel_answer').where('owner', '=', owner).where('key', '=', key).execute();
}

/** Deletes at most `limit` answers that were kept before a time. Returns their number. */
export async function deleteOldAnswers(db: Kysely<Tables>, before: number, limit: number): Promise<number> {
  const old = await db
    .selectFrom('travel_answer')
    .select(['owner', 'key'])
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(limit)
    .execute();
  for (const owner of new Set(old.map((one) => one.owner)))
    for (const keys of batches(old.filter((one) => one.owner === owner).map(({ key }) => key)))
      await db
        .deleteFrom('travel_answer')
        .where('owner', '=', owner)
        .where('key', 'in', keys)
        .where('created_at', '<', before)
        .execute();
  return old.length;
}

function isPlain(data: string): boolean {
  return data.startsWith('{');
}

function placeOf({ owner, key }: { owner: string; key: string }): string {
  return `answer/${owner}/${key}`;
}
