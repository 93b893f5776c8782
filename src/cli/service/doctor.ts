import type { DoctorResult } from '../../checks/doctor-findings.ts';
import { readSettings } from '../../config/settings.ts';
import type { CliCommand } from '../command.ts';
import { type Color, escapeLine, printJson, type Shell } from '../terminal/output.ts';

/** Defines the command `doctor`. */
export function defineDoctorCommand(command: CliCommand): void {
  command.option('--json', 'one JSON object for each check').examples('doctor', 'doctor --json').runs(doctor);
}

/** Prints one line for each check. Returns 1 if there is a fault. Works while a server runs. */
export async function doctor(shell: Shell, { json }: { json?: true } = {}): Promise<0 | 1> {
  const { runDoctor } = await import('../../checks/doctor.ts');
  const results = await runDoctor(readSettings(shell.environment, shell.home), Date.now());
  if (json) printJson(shell, ...results);
  else for (const result of results) shell.print(resultLine(result), stateColors[result.state]);
  return results.some(({ state }) => state === 'fault') ? 1 : 0;
}

const stateColors = { ok: 'green', warning: 'yellow', fault: 'red' } satisfies Record<
  DoctorResult['state'],
  Color
>;

function resultLine({ check, state, text, remedy }: DoctorResult): string {
  const advice = remedy === undefined ? '' : `. ${remedy}`;
  return escapeLine(`${state.padEnd(8)} ${check}: ${text.replace(/\.$/, '')}${advice}`);
}
