import { type Kysely, sql } from 'kysely';
import { tables } from '../migrations/index.ts';
import type { Database } from '../sql/database.ts';
import type { Tables } from '../sql/tables.ts';
import { type Backup, type BackupHeader, createBackupFile, FORMAT, writeBackup } from './backup-file.ts';

/** What a backup says about the program that makes it. */
type Maker = Pick<BackupHeader, 'jetbridge' | 'madeAt' | 'key'>;

/**
 * Writes all rows of a database to a file, as they are at one moment. Servers go on writing meanwhile. Rows are read a page at a time, so
 * that the size of the database does not matter.
 */
export function backUp({ db, dialect }: Database, file: string, maker: Maker): Promise<Backup> {
  return createBackupFile(file, (temporary) =>
    db.connection().execute(async (connection) => {
      await sql.raw(dialect.beginSnapshot).execute(connection);
      try {
        const header = await readHeader(connection, maker);
        return await writeBackup(temporary, header, (table, columns) => readRows(connection, table, columns));
      } finally {
        await sql`rollback`.execute(connection);
      }
    }),
  );
}

/**
 * Tables that no backup has: what runs at the moment, and what gives access for some hours. Whoever was signed in then is not signed in
 * after a restore.
 */
const leftOut = ['replica', 'write_probe', 'admin_session', 'oauth_token'];

async function readHeader(db: Kysely<Tables>, maker: Maker): Promise<BackupHeader> {
  const connections = await db.selectFrom('connection').select('id').orderBy('id').execute();
  const { people } = await db
    .selectFrom('identity')
    .select((row) => row.fn.countAll<number>().as('people'))
    .where('deleted_at', 'is', null)
    .where('claimed', '=', 1)
    .executeTakeFirstOrThrow();
  const stored = Object.entries(tables).filter(([table]) => !leftOut.includes(table));
  return {
    ...{ format: FORMAT, ...maker, connections: connections.map(({ id }) => id), people: Number(people) },
    tables: Object.fromEntries(stored.map(([table, { columns }]) => [table, Object.keys(columns)])),
  };
}

/** The rows that one statement reads. */
const PAGE = 200;

/** Yields the rows of a table in the order of its primary key, page by page. */
async function* readRows(
  db: Kysely<Tables>,
  table: string,
  columns: readonly string[],
): AsyncGenerator<unknown[][]> {
  const key = primaryKeyOf(table);
  const keyColumns = sql.join(key.map((column) => sql.ref(column)));
  const selected = sql.join(columns.map((column) => sql.ref(column)));
  let last: Record<string, unknown> | undefined;
  do {
    const after = last && sql`where (${keyColumns}) > (${sql.join(key.map((column) => last?.[column]))})`;
    const { rows } = await sql<Record<string, unknown>>`
      select ${selected} from ${sql.table(table)} ${after ?? sql``} order by ${keyColumns} limit ${sql.lit(PAGE)}
    `.execute(db);
    yield rows.map((row) => columns.map((column) => row[column]));
    last = rows.length === PAGE ? rows.at(-1) : undefined;
  } while (last);
}

function primaryKeyOf(table: string): string[] {
  const { constraints } = tables[table as keyof typeof tables]; // The header has these tables only.
  const [declared] = constraints.flatMap(
    (constraint) => /^primary key \((.+)\)$/.exec(constraint)?.[1] ?? [],
  );
  if (declared === undefined) throw new Error(`The table ${table} has no primary key.`);
  return declared.split(', ');
}
