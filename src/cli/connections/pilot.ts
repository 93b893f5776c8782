import { pilotOperations } from '../../operations/connections/pilot.ts';
import { shadowOperations } from '../../operations/connections/shadow.ts';
import { pilotChangeText, pilotText } from '../../provisioning/shadow/shadow-texts.ts';
import type { CliCommand } from '../command.ts';
import { WrongUse } from '../exit-code.ts';
import { type Operator, withOperations } from '../operations.ts';
import { addChangeFlags, type ChangeFlags, confirmChange } from '../terminal/confirmation.ts';
import { escapeLine, type Shell } from '../terminal/output.ts';
import { printResult } from '../terminal/printers.ts';

/** Adds the command `connections pilot`. */
export function addPilotCommand(connections: CliCommand): void {
  const pilot = connections
    .command('pilot')
    .description(
      'provision some people of a connection in shadow mode, while the others are planned; without a filter, show the pilot',
    )
    .argument('<name>', 'its name, as listed')
    .argument('[filter]', 'a SCIM filter of the people who are provisioned')
    .option('--none', 'end the pilot: everybody is planned again, and no traveler changes');
  addChangeFlags(pilot)
    .examples(
      'connections pilot default',
      `connections pilot default 'groups[display eq "Pilot"]'`,
      'connections pilot default --none --yes',
    )
    .runs((shell, id: string, filter: string | undefined, flags: PilotFlags) => {
      if (filter !== undefined && flags.none) throw new WrongUse('give either a filter or --none');
      const isChange = filter !== undefined || flags.none;
      return withOperations(shell, (operator) =>
        isChange
          ? changePilot(shell, operator, { id, filter, flags })
          : showPilot(shell, operator, { id, flags }),
      );
    });
}

type PilotFlags = ChangeFlags & { none?: true };

async function showPilot(
  shell: Shell,
  { call }: Operator,
  { id, flags }: { id: string; flags: PilotFlags },
): Promise<void> {
  const { pilot, people } = await call(shadowOperations, 'summarizeShadow', { id });
  const json = { connection: id, pilot: pilot ?? null, people };
  printResult(shell, flags, json, () => escapeLine(`${id}: ${pilot ?? 'no pilot'}: ${pilotText(people)}`));
}

async function changePilot(
  shell: Shell,
  { call }: Operator,
  { id, filter, flags }: { id: string; filter: string | undefined; flags: PilotFlags },
): Promise<void> {
  const preview = await call(pilotOperations, 'previewPilot', { id, filter });
  shell.printError(escapeLine(pilotChangeText(preview)));
  const question = filter === undefined ? `End the pilot of ${id}?` : `Give ${id} this pilot?`;
  await confirmChange(shell, question, flags);
  await call(pilotOperations, 'changePilot', { id, filter: filter ?? null });
  const json = { connection: id, pilot: filter ?? null };
  const now = filter === undefined ? 'has no pilot any more' : 'has this pilot';
  printResult(shell, flags, json, () => `${id} ${now}; running servers follow within two seconds`);
}
