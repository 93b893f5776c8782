import type { OperationOutput } from '../../operations/operation.ts';
import { erasureOperations } from '../../operations/people/erasure.ts';
import type { CliCommand } from '../command.ts';
import { withOperations } from '../operations.ts';
import { addChangeFlags, type ChangeFlags, confirmChange } from '../terminal/confirmation.ts';
import { escapeLine } from '../terminal/output.ts';
import { factLines, printResult } from '../terminal/printers.ts';
import { findPerson } from './find-person.ts';

/** Defines the command `erase`. */
export function defineEraseCommand(command: CliCommand): void {
  command
    .argument('<user>', 'the userName, email address, SCIM id or travel user id')
    .option('--connection <id>', 'the connection of the person, if several people have that name');
  addChangeFlags(command)
    .examples('erase ada@corp.example', 'erase ada@corp.example --yes')
    .runs((shell, user: string, { connection: chosen, ...flags }: ChangeFlags & { connection?: string }) =>
      withOperations(shell, async ({ deps, call }) => {
        const { connection, id } = await findPerson(deps, user, chosen);
        const { result } = erasureOperations.erasePerson;
        const plan = await call(erasureOperations, 'erasePerson', { connection, id });
        if (!flags.json || !flags.yes) printResult(shell, flags, result.encode(plan), () => planText(plan));
        await confirmChange(shell, 'Erase the person? It cannot be undone.', flags);
        const done = await call(erasureOperations, 'erasePerson', { connection, id, confirm: true });
        printResult(shell, flags, result.encode(done), () => '\nThe person is erased.');
      }),
    );
}

/** The kinds of records in words. */
const kindTexts: Record<string, string> = {
  groups: 'groups with the person as a member',
  otherPeople: 'other people whose manager the person is',
  requests: 'entries of the log of exchanges',
  tripProject: 'trips',
  billingOperation: 'billing operations',
  event: 'events of the travel service',
};

type Plan = OperationOutput<typeof erasureOperations.erasePerson>;

function planText({ identities, travelUserIds, place, counts }: Plan): string {
  return [
    'To be erased:',
    ...identities.map(({ userName, id, connection }) =>
      escapeLine(`  ${userName}, SCIM id ${id}, connection ${connection}`),
    ),
    ...(place === 'embedded' ? travelUserIds.map((id) => `  the traveler ${id}`) : []),
    'Deleted or changed:',
    ...factLines(Object.entries(counts).map(([kind, count]) => [kindTexts[kind] ?? kind, String(count)])),
    'Left to you:',
    ...(place === 'embedded'
      ? []
      : travelUserIds.map((id) =>
          escapeLine(`  delete or anonymize the traveler ${id} in ${place ?? 'its travel service'}`),
        )),
    '  what docs/operations/erase-a-person.md lists as not changed, such as names of groups, backups and log files',
  ].join('\n');
}
