import { type Kysely, type Migration, sql } from 'kysely';
import type { JsonObject } from '../../schema/resource.ts';
import { insertEmailKeys } from '../identity-changes.ts';
import { observedColumns } from '../identity-row.ts';
import { parseJson } from '../queries.ts';
import { attributeKey, caseFoldedKey } from '../search-keys.ts';
import type { Tables } from '../tables.ts';
import { recomputeTravelKeys } from './0010-travel-keys.ts';
import { assignUniqueKeys, former, type RowWithNewKey } from './0010-unique-keys.ts';

/**
 * Recomputes every stored key: texts are compared as NFC in lower case from here on, and were compared as NFKC before.
 * The key of a text in ASCII stays as it is.
 */
export function addressKeys(): Migration {
  return {
    up: async (any: Kysely<unknown>) => {
      const db = any as Kysely<Tables>; // The columns that are named here are as today's code knows them.
      await recomputeIdentities(db);
      await recomputeReferences(db);
      await recomputeGroups(db);
      await recomputeTravelKeys(db);
    },
  };
}

const BATCH = 500;

interface Person extends RowWithNewKey {
  connection_id: string;
  id: string;
  account: string;
}

async function recomputeIdentities(db: Kysely<Tables>): Promise<void> {
  const userNames: Person[] = [];
  const creates: Person[] = [];
  for await (const row of identities(db)) {
    const texts = [row.desired, row.observed, row.creating, row.findings, row.waiting_for];
    if (texts.every((text) => text === null || isAscii(text))) continue;
    const desired: JsonObject = parseJson(row.desired);
    const { connection_id, id, account } = row;
    const person = { connection_id, id, account, name: `${connection_id}/${id}`, createdAt: row.created_at };
    const userName = attributeKey(desired['userName'], caseFoldedKey);
    // Tombstones of one userName are in nobody's way.
    const isUnique = row.deleted_at === null && userName !== null;
    if (isUnique && userName !== row.user_name_key) userNames.push({ ...person, key: userName });
    const creating = row.creating === null ? null : caseFoldedKey(row.creating);
    if (creating !== null && creating !== row.creating_key) creates.push({ ...person, key: creating });
    const { travel_email_key } = observedColumns(row.observed === null ? undefined : parseJson(row.observed));
    const display_name_key = attributeKey(desired['displayName'], caseFoldedKey);
    const keys = { display_name_key, travel_email_key, ...(isUnique ? {} : { user_name_key: userName }) };
    if (Object.entries(keys).some(([name, key]) => key !== row[name as keyof typeof keys]))
      await identity(db, row).set(keys).execute();
    await recomputeEmails(db, { connection: connection_id, id, desired });
    if (row.waiting_for !== null) await recomputeWaiting(db, row, row.waiting_for);
  }
  await assignUserNames(db, userNames);
  await assignCreates(db, creates);
}

type Row = Pick<
  Tables['identity'],
  | ('connection_id' | 'id' | 'account' | 'desired' | 'observed' | 'creating' | 'findings')
  | ('created_at' | 'deleted_at' | 'user_name_key' | 'display_name_key' | 'travel_email_key')
  | ('creating_key' | 'waiting_for')
>;

async function* identities(db: Kysely<Tables>): AsyncGenerator<Row> {
  let last = { connection_id: '', id: '' };
  for (;;) {
    const rows: Row[] = await db
      .selectFrom('identity')
      .select(['connection_id', 'id', 'account', 'desired', 'observed', 'creating', 'findings'])
      .select(['created_at', 'deleted_at', 'user_name_key', 'display_name_key', 'travel_email_key'])
      .select(['creating_key', 'waiting_for'])
      .where((row) => row(row.refTuple('connection_id', 'id'), '>', row.tuple(last.connection_id, last.id)))
      .orderBy('connection_id')
      .orderBy('id')
      .limit(BATCH)
      .execute();
    yield* rows;
    const end = rows.at(-1);
    if (!end) return;
    last = end;
  }
}

function identity(db: Kysely<Tables>, { connection_id, id }: Pick<Row, 'connection_id' | 'id'>) {
  return db.updateTable('identity').where('connection_id', '=', connection_id).where('id', '=', id);
}

async function recomputeEmails(
  db: Kysely<Tables>,
  owner: { connection: string; id: string; desired: JsonObject },
): Promise<void> {
  if (isAscii(JSON.stringify(owner.desired['emails'] ?? null))) return;
  await db
    .deleteFrom('identity_email')
    .where('connection_id', '=', owner.connection)
    .where('identity_id', '=', owner.id)
    .execute();
  await insertEmailKeys(db, [owner]);
}

/**
 * Only the key of the address that somebody waits for was kept; the address itself is in the finding that tells of it. The
 * identity is reconciled again: the one who had the address may now have another.
 */
async function recomputeWaiting(db: Kysely<Tables>, row: Row, waitingFor: string): Promise<void> {
  const findings: { code: string; value?: unknown }[] = parseJson(row.findings);
  const keys = findings
    .flatMap(({ code, value }) => (code === 'emailTaken' && typeof value === 'string' ? [value] : []))
    .filter((address) => [former(address), former(former(address))].includes(waitingFor))
    .map(caseFoldedKey);
  const waiting_for = keys[0] ?? waitingFor;
  if (keys.length > 0 && waiting_for === waitingFor) return;
  await identity(db, row)
    .set({ waiting_for, state: 'dirty', next_attempt_at: 0, revision: sql`revision + 1` })
    .execute();
}

function assignUserNames(db: Kysely<Tables>, people: Person[]): Promise<void> {
  return assignUniqueKeys(people, {
    write: async (person, user_name_key) => {
      await identity(db, person).set({ user_name_key }).execute();
    },
    isTaken: async ({ connection_id, key }) => {
      const taken = await db
        .selectFrom('identity')
        .select('id')
        .where('connection_id', '=', connection_id)
        .where('user_name_key', '=', key)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      return taken !== undefined;
    },
  });
}

function assignCreates(db: Kysely<Tables>, people: Person[]): Promise<void> {
  return assignUniqueKeys(people, {
    write: async (person, creating_key) => {
      await identity(db, person).set({ creating_key }).execute();
    },
    isTaken: async ({ account, key }) => {
      const taken = await db
        .selectFrom('identity')
        .select('id')
        .where('account', '=', account)
        .where('creating_key', '=', key)
        .executeTakeFirst();
      return taken !== undefined;
    },
  });
}

async function recomputeReferences(db: Kysely<Tables>): Promise<void> {
  let last = { connection_id: '', identity_id: '', position: -1 };
  for (;;) {
    const rows = await db
      .selectFrom('identity_reference')
      .select(['connection_id', 'identity_id', 'position', 'raw', 'raw_key'])
      .where((row) =>
        row(
          row.refTuple('connection_id', 'identity_id', 'position'),
          '>',
          row.tuple(last.connection_id, last.identity_id, last.position),
        ),
      )
      .orderBy('connection_id')
      .orderBy('identity_id')
      .orderBy('position')
      .limit(BATCH)
      .execute();
    for (const { connection_id, identity_id, position, raw, raw_key } of rows) {
      if (caseFoldedKey(raw) === raw_key) continue;
      await db
        .updateTable('identity_reference')
        .set({ raw_key: caseFoldedKey(raw) })
        .where('connection_id', '=', connection_id)
        .where('identity_id', '=', identity_id)
        .where('position', '=', position)
        .execute();
    }
    const end = rows.at(-1);
    if (!end) return;
    last = end;
  }
}

interface Group extends RowWithNewKey {
  connection_id: string;
  id: string;
}

/** Groups are few, compared with people: their attributes fit into memory. */
async function recomputeGroups(db: Kysely<Tables>): Promise<void> {
  const rows = await db
    .selectFrom('scim_group')
    .select(['connection_id', 'id', 'attributes', 'display_name_key', 'created_at'])
    .execute();
  const groups = rows.flatMap(({ connection_id, id, attributes, display_name_key, created_at }): Group[] => {
    const key = attributeKey(parseJson<JsonObject>(attributes)['displayName'], caseFoldedKey);
    if (key === null || key === display_name_key) return [];
    return [{ connection_id, id, name: `${connection_id}/${id}`, createdAt: created_at, key }];
  });
  await assignUniqueKeys(groups, {
    write: async ({ connection_id, id }, display_name_key) => {
      await db
        .updateTable('scim_group')
        .set({ display_name_key })
        .where('connection_id', '=', connection_id)
        .where('id', '=', id)
        .execute();
    },
    isTaken: async ({ connection_id, key }) => {
      const taken = await db
        .selectFrom('scim_group')
        .select('id')
        .where('connection_id', '=', connection_id)
        .where('display_name_key', '=', key)
        .executeTakeFirst();
      return taken !== undefined;
    },
  });
}

function isAscii(text: string): boolean {
  return !/[^ -~]/.test(text);
}
