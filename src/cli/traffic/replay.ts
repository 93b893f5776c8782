import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { StepResult } from '../../replay/player.ts';
import { type Outcome, replay } from '../../replay/report.ts';
import { readScenarios, ScenarioFault } from '../../replay/scenario.ts';
import type { TravelApi } from '../../replay/traveler-check.ts';
import type { CliCommand } from '../command.ts';
import { parseBaseUrl, parseVariable } from '../terminal/arguments.ts';
import {
  type Color,
  escapeLine,
  type Progress,
  printJson,
  type Shell,
  startProgress,
} from '../terminal/output.ts';

/** The flags of `replay`. */
export interface ReplayFlags {
  url: string;
  token: string;
  variable: Record<string, string>;
  travelUrl?: string;
  travelKey?: string;
  json?: true;
}

/** Defines the command `replay`. */
export function defineReplayCommand(command: CliCommand): void {
  command
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
    .option('--json', 'one JSON object for each scenario')
    .examples(
      'replay scenarios --url http://127.0.0.1:8080/scim/v2 --token "$SCIM_TOKEN"',
      'replay joiner.json --url https://bridge.example.com/scim/v2 --token "$SCIM_TOKEN" --variable who=ada',
    )
    .runs(replayRecorded);
}

/** Plays recorded exchanges against a running service. Returns 1 if an answer or a traveler differs from the expected one. */
export async function replayRecorded(shell: Shell, path: string, flags: ReplayFlags): Promise<0 | 1> {
  const progress = startReplayProgress(shell);
  try {
    const scenarios = readScenarios(path);
    const total = scenarios.length;
    let done = 0;
    const { failed, unchecked, outcomes } = await replay({
      scenarios,
      url: flags.url,
      token: flags.token,
      variables: flags.variable,
      travel: travelApiOf(flags, shell.environment.TRAVEL_API_KEY || undefined),
      print: (line) => {
        if (!flags.json) shell.print(escapeLine(line), outcomeColors[/^\w+/.exec(line)?.[0] ?? '']);
      },
      afterScenario: (outcome) => {
        if (flags.json) printJson(shell, outcomeJson(outcome));
        done += 1;
        progress.update(done, total);
      },
      now: Date.now,
      newRun: () => randomBytes(4).toString('hex'),
    });
    if (unchecked > 0) shell.printError(uncheckedText(unchecked));
    for (const text of refusedCredentials(outcomes, flags)) shell.printError(text);
    return failed > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ScenarioFault)) throw error;
    shell.printError(error.message);
    return 1;
  } finally {
    progress.stop();
  }
}

/** On a terminal the printed outcomes show how far the replay is. */
function startReplayProgress(shell: Shell): Progress {
  const isTerminal = shell.isTerminal && shell.columns === undefined;
  return startProgress({ ...shell, isTerminal }, 'replay', 'scenarios');
}

/** The colors of the lines that begin with the outcome of a scenario. */
const outcomeColors: Record<string, Color> = { passed: 'green', skipped: 'yellow', FAILED: 'red' };

function outcomeJson(outcome: Outcome): object {
  const { name, severity } = outcome.scenario;
  if (outcome.kind === 'skipped')
    return { scenario: name, severity, outcome: 'skipped', missing: outcome.missing };
  const { kind, played } = outcome;
  const mismatches = played.flatMap(({ index, method, target, mismatches }) =>
    mismatches.map((mismatch) => ({ step: index + 1, request: `${method} ${target}`, ...mismatch })),
  );
  return { scenario: name, severity, outcome: kind, steps: played.length, mismatches };
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

/** Says which credentials were refused, where they come from, and what to do. */
function refusedCredentials(outcomes: Outcome[], { travelKey }: ReplayFlags): string[] {
  const played = outcomes.flatMap((outcome) => (outcome.kind === 'skipped' ? [] : outcome.played));
  // A scenario may send other credentials on purpose.
  const isTokenRefused = played.some(
    ({ step, mismatches }) =>
      JSON.stringify(step.request.headers).includes('{{token}}') && isUnauthorized(mismatches, 'status'),
  );
  const isKeyRefused = played.some(({ mismatches }) => isUnauthorized(mismatches, 'travel API'));
  const keySource = travelKey === undefined ? 'the environment variable TRAVEL_API_KEY' : '--travel-key';
  return [
    ...(isTokenRefused
      ? [
          'The SCIM service refuses the token of --token (401): give a token of the service at --url; "npx jetbridge tokens create" makes one.',
        ]
      : []),
    ...(isKeyRefused
      ? [
          `The travel API refuses the key of ${keySource} (401): give a key of that travel API, or check --travel-url; "npx jetbridge api-keys create" makes one for the embedded travel service.`,
        ]
      : []),
  ];
}

function isUnauthorized(mismatches: StepResult['mismatches'], place: string): boolean {
  return mismatches.some(({ at, actual }) => at === place && /^401\b/.test(String(actual)));
}
