import type { z } from 'zod';
import { auditColumns, auditOperations } from '../operations/settings/audit.ts';
import type { CliCommand } from './command.ts';
import { listPages, withOperations } from './operations.ts';
import { addInputOptions } from './terminal/input-options.ts';
import { addLimitOption, addListFlags, type ListFlags, printList, rowLimit } from './terminal/printers.ts';

const { query } = auditOperations.listAuditEntries;
const list = [auditOperations, 'listAuditEntries', 'entries'] as const;

/** Defines the command `audit`. */
export function defineAuditCommand(command: CliCommand): void {
  const options = {
    since: { description: 'e.g. 15m, 2h, 7d, or 2026-11-20T08:00:00Z' },
    actor: { flags: '--actor <name>', description: 'only of those whose name contains this, without case' },
    action: { flags: '--action <name>', description: 'only this action, e.g. applyMapping' },
  };
  addListFlags(addLimitOption(addInputOptions(command, query, options), 'entries'))
    .examples('audit --since 7d', 'audit --action applyMapping', 'audit --csv > audit.csv')
    .runs((shell, { csv, json, limit, ...input }: ListFlags & z.input<typeof query>) =>
      withOperations(shell, (operator) => {
        const flags = { csv, json, limit };
        return printList(shell, flags, listPages(operator, list, input, rowLimit(flags) + 1), {
          columns: auditColumns,
          table: ['at', 'actor', 'actorKind', 'address', 'action', 'details', 'status'],
          none: 'There are no such entries.',
        });
      }),
    );
}
