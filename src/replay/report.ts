import {
  type Mismatch,
  type PlayDeps,
  playSteps,
  rawClient,
  type StepResult,
  type Variables,
  variableNames,
} from './player.ts';
import { readScenarios, type Scenario, type Step } from './scenario.ts';

/** The outcome of one scenario. */
export type Outcome =
  | { kind: 'passed'; scenario: Scenario; steps: number }
  | { kind: 'failed'; scenario: Scenario; played: StepResult[] }
  | { kind: 'skipped'; scenario: Scenario; missing: string[] };

/** Formats an outcome. Each mismatch names the request, the place, the expected and the actual value. */
export function outcomeLines(outcome: Outcome): string[] {
  const { name, severity } = outcome.scenario;
  switch (outcome.kind) {
    case 'passed':
      return [`passed   ${name} (${countText(outcome.steps, 'step')})`];
    case 'skipped':
      return [`skipped  ${name}: not given: ${outcome.missing.join(', ')}`];
    case 'failed':
      return [`FAILED   ${name} (${severity})`, ...outcome.played.flatMap(stepLines)];
  }
}

/** Formats one line with the numbers of outcomes. */
export function summaryLine(outcomes: Outcome[]): string {
  const count = (kind: Outcome['kind']) => outcomes.filter((outcome) => outcome.kind === kind).length;
  const all = countText(outcomes.length, 'scenario');
  return `${all}: ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`;
}

function stepLines({ index, method, target, step, mismatches }: StepResult): string[] {
  if (mismatches.length === 0) return [];
  const note = step.note === undefined ? '' : `  (${step.note})`;
  return [`  step ${index + 1}: ${method} ${target}${note}`, ...mismatches.flatMap(mismatchLines)];
}

function mismatchLines({ at, expected, actual }: Mismatch): string[] {
  return [`    ${at}`, `      expected ${valueText(expected)}`, `      but was  ${valueText(actual)}`];
}

function valueText(value: unknown): string {
  return value === undefined ? 'missing' : (JSON.stringify(value) ?? String(value));
}

function countText(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** The scenarios to play, the service, and the variables. */
export interface ReplayOptions {
  /** Scenario files, and folders of scenario files. */
  files: string[];
  /** The SCIM base URL. */
  url: string;
  token: string;
  /** Variables in addition to `token`, `run` and `extensionUrn`, which every scenario has. */
  variables?: Variables;
  print(line: string): void;
  /** A clock in milliseconds, to measure rates with. */
  now(): number;
  /** Returns a random word for each scenario, so that it can be played again on the same service. */
  newRun(): string;
  /** Called after each step. An error that it throws ends the replay. */
  afterStep?: (scenario: Scenario, step: Step, index: number, variables: Variables) => Promise<void>;
}

/** The numbers and outcomes of a replay. */
export interface ReplayResult {
  passed: number;
  failed: number;
  skipped: number;
  outcomes: Outcome[];
}

const extensionUrn = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';

/** Variables that not every runner has. A scenario that uses a missing one is skipped. */
const optionalVariables = [
  'seedEmail',
  'tokenEndpoint',
  'clientId',
  'clientSecret',
  'clientBasic',
  'entraAssertion',
];
/** The variable that a scenario with this tag needs, even if none of its steps names the variable. */
const neededByTag: Record<string, string> = { oauth: 'tokenEndpoint', 'needs-seed': 'seedEmail' };

/** Plays scenarios one after the other and prints their outcomes. Throws a `ScenarioFault`, before it plays any, if one is invalid. */
export async function replay(options: ReplayOptions): Promise<ReplayResult> {
  const scenarios = options.files.flatMap(readScenarios);
  const client = rawClient();
  const { url, now, afterStep } = options;
  const deps: PlayDeps = { url, now, afterStep, client };
  const outcomes: Outcome[] = [];
  try {
    for (const scenario of scenarios) {
      const outcome = await playScenario(scenario, options, deps);
      outcomes.push(outcome);
      for (const text of outcomeLines(outcome)) options.print(text);
    }
  } finally {
    client.close();
  }
  options.print(summaryLine(outcomes));
  const count = (kind: Outcome['kind']) => outcomes.filter((outcome) => outcome.kind === kind).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped'), outcomes };
}

async function playScenario(scenario: Scenario, options: ReplayOptions, deps: PlayDeps): Promise<Outcome> {
  const { token, variables: given = {} } = options;
  const missing = missingVariables(scenario, given);
  if (missing.length > 0) return { kind: 'skipped', scenario, missing };
  const variables = { extensionUrn, run: options.newRun(), ...given, token };
  const played = await playSteps(scenario, variables, deps);
  const isDifferent = ({ mismatches }: StepResult) => mismatches.length > 0;
  return played.some(isDifferent)
    ? { kind: 'failed', scenario, played }
    : { kind: 'passed', scenario, steps: played.length };
}

function missingVariables({ tags, steps }: Scenario, given: Variables): string[] {
  const named = variableNames(steps);
  const needed = [
    ...tags.flatMap((tag) => neededByTag[tag] ?? []),
    ...optionalVariables.filter((name) => named.has(name)),
  ];
  return [...new Set(needed)].filter((name) => given[name] === undefined);
}
