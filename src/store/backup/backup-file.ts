import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual, types } from 'node:util';
import { createGunzip, createGzip } from 'node:zlib';
import { parseJson, toJson } from '../sql/queries.ts';

/** The first line of a backup. */
export interface BackupHeader {
  format: typeof FORMAT;
  /** The version of Jetbridge that has made the backup. */
  jetbridge: string;
  madeAt: string;
  connections: string[];
  people: number;
  /** The id of the key that decrypts the secrets of the backup; null if there was no key. The key itself is not in the file. */
  key: string | null;
  /** The columns of each table, in the order of the tables in the file. */
  tables: Record<string, string[]>;
}

/** The line after the rows of a table: their number, and a digest of their lines. */
export interface TableEnd {
  table: string;
  rows: number;
  sha256: string;
}

/** What a backup has, without the rows. */
export interface Backup {
  header: BackupHeader;
  tables: TableEnd[];
}

/** The format is the same for all databases: lines of JSON in gzip. After the first line each table has a line for each row, and its end. */
export const FORMAT = 'jetbridge-backup-1';

/** The rows that are handed on together. */
const BATCH = 200;

/**
 * Creates a backup file, which only its owner can read: `write` writes a temporary file, which is read again, compared with what was
 * written, and renamed. Throws a BackupFault if there is a file of that name.
 */
export async function createBackupFile(
  file: string,
  write: (temporary: string) => Promise<Backup>,
): Promise<Backup> {
  if (existsSync(file))
    throw new BackupFault(`${file} exists already, and is left as it is. Give another name.`);
  const temporary = `${file}.${process.pid}.part`;
  try {
    const written = await write(temporary);
    if (!isDeepStrictEqual(await readBackup(temporary), written))
      throw new BackupFault(`${file} was not written as it was meant to be. Check the disk.`);
    await rename(temporary, file);
    await syncFolder(dirname(file));
    return written;
  } catch (error) {
    await rm(temporary, { force: true });
    throw isSystemError(error) ? new BackupFault(`${file} cannot be written: ${error.message}.`) : error;
  }
}

/** Writes a header and the rows of its tables to a new file. Resolves when they are on the disk. */
export async function writeBackup(
  file: string,
  header: BackupHeader,
  rowsOf: (table: string, columns: readonly string[]) => AsyncIterable<unknown[][]>,
): Promise<Backup> {
  const tables: TableEnd[] = [];
  const lines = async function* () {
    yield `${toJson(header)}\n`;
    for (const [table, columns] of Object.entries(header.tables)) {
      const digest = createHash('sha256');
      let count = 0;
      for await (const rows of rowsOf(table, columns)) {
        const text = rows.map((row) => `${toJson(row)}\n`).join('');
        digest.update(text);
        count += rows.length;
        yield text;
      }
      const end = { table, rows: count, sha256: digest.digest('hex') };
      tables.push(end);
      yield `${toJson(end)}\n`;
    }
  };
  const output = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  // The lowest level halves the time of a backup, which is then a fifth larger.
  await pipeline(Readable.from(lines()), createGzip({ level: 1 }), output);
  return { header, tables };
}

/** Takes rows of a table: their lines, which are JSON lists of the values of the columns. */
type TakeRows = (table: string, lines: readonly string[], header: BackupHeader) => Promise<void>;

/** Reads a whole backup. Throws a BackupFault if it is not one, or is not complete; some rows may have been taken by then. */
export async function readBackup(file: string, take: TakeRows = async () => {}): Promise<Backup> {
  try {
    return await pipeline(createReadStream(file), createGunzip(), (bytes: AsyncIterable<Buffer>) =>
      readLines(linesOf(bytes), take),
    );
  } catch (error) {
    if (isSystemError(error)) throw new BackupFault(`${file} cannot be read: ${error.message}.`);
    if (error instanceof Damaged || hasZlibCode(error) || error instanceof SyntaxError)
      throw new BackupFault(`${file} is not a whole backup of Jetbridge: ${error.message}. Use another one.`);
    throw error;
  }
}

async function readLines(lines: AsyncGenerator<string>, take: TakeRows): Promise<Backup> {
  const header = parseHeader(await nextLine(lines));
  const tables: TableEnd[] = [];
  for (const table of Object.keys(header.tables))
    tables.push(await readTable(table, lines, (some) => take(table, some, header)));
  if (!(await lines.next()).done) throw new Damaged('it goes on after its end');
  return { header, tables };
}

function parseHeader(line: string): BackupHeader {
  const header = parseJson<Partial<BackupHeader> | null>(line);
  if (header?.format !== FORMAT) throw new Damaged('its first line is another one');
  return header as BackupHeader; // Every writer of this format writes the other members, too.
}

async function readTable(
  table: string,
  lines: AsyncGenerator<string>,
  take: (some: readonly string[]) => Promise<void>,
): Promise<TableEnd> {
  const digest = createHash('sha256');
  let rows = 0;
  let some: string[] = [];
  for (;;) {
    const line = await nextLine(lines);
    const isRow = line.startsWith('[');
    if (isRow) {
      digest.update(`${line}\n`);
      rows += 1;
      some.push(line);
    }
    if (!isRow || some.length === BATCH) {
      await take(some);
      some = [];
    }
    if (isRow) continue;
    const end = { table, rows, sha256: digest.digest('hex') };
    if (!isDeepStrictEqual(parseJson(line), end)) throw new Damaged(`the table ${table} has other rows`);
    return end;
  }
}

async function nextLine(lines: AsyncGenerator<string>): Promise<string> {
  const next = await lines.next();
  if (next.done) throw new Damaged('it ends too early');
  return next.value;
}

/** Not `node:readline`, which also ends lines at U+2028, a character that JSON may have in texts. */
async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** The name of a file is on the disk when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  await handle.sync().finally(() => handle.close());
}

/** Thrown if a backup cannot be made or used. The message is for the operator. */
export class BackupFault extends Error {
  override name = 'BackupFault';
}

/** Thrown at a line that does not belong where it is. */
class Damaged extends Error {}

function isSystemError(error: unknown): error is Error {
  return types.isNativeError(error) && 'syscall' in error;
}

function hasZlibCode(error: unknown): error is Error {
  return types.isNativeError(error) && 'code' in error && String(error.code).startsWith('Z_');
}
