import { auditColumns, auditPages } from '../operations/audit-entries.ts';
import { type AuditEntry, auditLog, type EntryFilter } from '../store/credentials/audit-log.ts';
import type { Database } from '../store/sql/database.ts';
import { parseCount, parseTime } from './arguments.ts';
import type { CliCommand } from './command.ts';
import { withDatabase } from './database.ts';
import { formatMinute, printCsv, printJson, printTable, type Shell, withIsoTimes } from './output.ts';
import { currentUser } from './terminal.ts';

interface AuditFlags extends Pick<EntryFilter, 'actor' | 'action' | 'since'> {
  limit: number;
  csv?: true;
  json?: true;
}

/** Adds the command `audit`. */
export function addAuditCommand(program: CliCommand): void {
  program
    .command('audit')
    .description('list the changes that admins, tokens and commands have made, newest first')
    .option('--since <time>', 'e.g. 15m, 2h, 7d, or 2026-11-20T08:00:00Z', parseTime)
    .option('--actor <name>', 'only of those whose name contains this, without case')
    .option('--action <name>', 'only this action, e.g. applyMapping')
    .option('--limit <number>', 'the number of entries in the table; CSV and JSON have all', parseCount, 50)
    .option('--csv', 'CSV for spreadsheets')
    .option('--json', 'one JSON object for each entry')
    .examples('audit --since 7d', 'audit --action applyMapping', 'audit --csv > audit.csv')
    .runs(showAudit);
}

/** Prints entries of the audit log. Works while a server runs, and reads page by page. */
export function showAudit(shell: Shell, { limit, csv, json, ...filter }: AuditFlags): Promise<0 | 1> {
  return withDatabase(shell, async ({ database }) => {
    const audit = auditLog(database);
    if (csv) await printCsv(shell, auditColumns, auditPages(audit, filter));
    else if (json) await printEntries(shell, auditPages(audit, filter));
    // One entry more than is shown tells that there are others.
    else printEntryTable(shell, await audit.list({ ...filter, limit: limit + 1 }), limit);
  });
}

async function printEntries(shell: Shell, pages: AsyncIterable<AuditEntry[]>): Promise<void> {
  for await (const entries of pages) {
    if (shell.isOutputClosed?.()) return;
    printJson(shell, ...entries.map((entry) => withIsoTimes(entry, 'at')));
  }
}

function printEntryTable(shell: Shell, entries: AuditEntry[], limit: number): void {
  const rows = entries.slice(0, limit).map((entry) => {
    const { at, actor, actorKind, address, action, status } = entry;
    const details = JSON.stringify(entry.details);
    return [formatMinute(at), actor, actorKind, address || '-', action, details, String(status ?? 'unknown')];
  });
  if (rows.length === 0) shell.printError('There are no such entries.');
  else printTable(shell, ['time (UTC)', 'who', 'as', 'from', 'action', 'details', 'status'], rows);
  if (entries.length > limit) shell.printError(`These are the newest ${limit}; --limit shows more.`);
}

/**
 * Records a change that a command makes in the audit log of the admin page, with the user of the operating system. `change` may add to the
 * details; `isDone` is false of its result if nothing has changed, by default of a falsy one.
 */
export async function withAuditEntry<T>(
  database: Database,
  { action, details }: Pick<AuditEntry, 'action' | 'details'>,
  change: () => Promise<T>,
  isDone: (result: T) => boolean = Boolean,
): Promise<T> {
  const audit = auditLog(database);
  const actor = { actor: `command line: ${currentUser()}`, actorKind: 'command', address: '' } as const;
  const position = await audit.begin({ at: Date.now(), ...actor, action, details });
  const result = await change();
  await audit.finish(position, { status: isDone(result) ? 200 : 409, details });
  return result;
}
