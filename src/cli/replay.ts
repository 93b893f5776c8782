import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import { replay } from '../replay/report.ts';
import { readScenarios, ScenarioFault } from '../replay/scenario.ts';
import type { TravelApi } from '../replay/traveler-check.ts';
import { parseBaseUrl, parseVariable } from './arguments.ts';
import { type Action, escapeLine, type Shell } from './output.ts';

/** The flags of `replay`. */
export interface ReplayFlags {
  url: string;
  token: string;
  variable: Record<string, string>;
  travelUrl?: string;
  travelKey?: string;
}

/** Adds the command `replay`. */
export function addReplayCommand(program: Command, shell: Shell, action: Action): void {
  program
    .command('replay')
    .description('play recorded exchanges against a running service; exit code 1 on a mismatch')
    .argument('<path>', 'a scenario file, or a folder with scenario files')
    .requiredOption('--url <url>', 'the SCIM base URL, e.g. http://127.0.0.1:8080/scim/v2', parseBaseUrl)
    .requiredOption('--token <token>', 'a bearer token of that service')
    .option('--variable <name=value>', 'a variable of the scenarios; can be repeated', parseVariable, {})
    .option(
      '--travel-url <url>',
      'the travel API to compare travelers with; default: the embedded one at --url',
      parseBaseUrl,
    )
    .option('--travel-key <key>', 'a key of the travel API; default: TRAVEL_API_KEY')
    .action(action((path: string, flags: ReplayFlags) => replayRecorded(shell, path, flags)));
}

/** Plays recorded exchanges against a running service. Returns 1 if an answer or a traveler differs from the expected one. */
export async function replayRecorded(shell: Shell, path: string, flags: ReplayFlags): Promise<0 | 1> {
  try {
    const { failed, unchecked } = await replay({
      scenarios: readScenarios(path),
      url: flags.url,
      token: flags.token,
      variables: flags.variable,
      travel: travelApiOf(flags, shell.environment.TRAVEL_API_KEY),
      print: (line) => shell.print(escapeLine(line)),
      now: Date.now,
      newRun: () => randomBytes(4).toString('hex'),
    });
    if (unchecked > 0) shell.printError(uncheckedText(unchecked));
    return failed > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ScenarioFault)) throw error;
    shell.printError(error.message);
    return 1;
  }
}

/** The embedded travel service is at `/api` where SCIM is at `/scim/v2`. */
function travelApiOf(
  { url, travelUrl, travelKey }: ReplayFlags,
  keyOfEnvironment: string | undefined,
): TravelApi | undefined {
  const key = travelKey ?? keyOfEnvironment;
  const base = (travelUrl ?? url).replace(/\/(scim(\/v2)?|api)$/, '');
  return key === undefined ? undefined : { url: base, key, pause: (ms) => setTimeout(ms) };
}

function uncheckedText(count: number): string {
  const steps = count === 1 ? 'The traveler of 1 step was' : `The travelers of ${count} steps were`;
  return `${steps} not checked: give a key of the travel API with --travel-key or TRAVEL_API_KEY.`;
}
