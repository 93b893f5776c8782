import type { Command } from 'commander';
import { readSettings } from '../config/settings.ts';
import { type DoctorResult, runDoctor } from '../server/doctor.ts';
import { type Action, escapeLine, jsonLine, type Shell } from './output.ts';

/** Adds the command `doctor`. */
export function addDoctorCommand(program: Command, shell: Shell, action: Action): void {
  program
    .command('doctor')
    .description('try the database, the travel APIs, the credentials and the mappings, and say what to do')
    .option('--json', 'one JSON object for each check')
    .action(action((options: { json?: true }) => doctor(shell, options)));
}

/** Prints one line for each check. Returns 1 if there is a fault. Works while a server runs. */
export async function doctor(shell: Shell, { json }: { json?: true } = {}): Promise<0 | 1> {
  const results = await runDoctor(readSettings(shell.environment, shell.home), Date.now());
  for (const result of results) shell.print(json ? jsonLine(result) : resultLine(result));
  return results.some(({ state }) => state === 'fault') ? 1 : 0;
}

function resultLine({ check, state, text, remedy }: DoctorResult): string {
  const advice = remedy === undefined ? '' : `. ${remedy}`;
  return escapeLine(`${state.padEnd(8)} ${check}: ${text.replace(/\.$/, '')}${advice}`);
}
