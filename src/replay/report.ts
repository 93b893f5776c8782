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

/** What one scenario came to. */
export type Outcome =
  | { kind: 'passed'; scenario: Scenario; steps: number }
  | { kind: 'failed'; scenario: Scenario; played: StepResult[] }
  | { kind: 'skipped'; scenario: Scenario; missing: string[] };

/** The lines that tell one outcome: a mismatch names the request, the place, what was expected and what came. */
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

/** One line that counts. */
export function summaryLine(outcomes: Outcome[]): string {
  const of = (kind: Outcome['kind']) => outcomes.filter((outcome) => outcome.kind === kind).length;
  const all = countText(outcomes.length, 'scenario');
  return `${all}: ${of('passed')} passed, ${of('failed')} failed, ${of('skipped')} skipped`;
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

/** What to play, against what, and what the scenarios may know. */
export interface ReplayOptions {
  /** Scenario files, and folders of them. */
  files: string[];
  /** The SCIM base URL. */
  url: string;
  token: string;
  /** Besides `token`, `run` and `extensionUrn`, which are always there. */
  variables?: Variables;
  print(line: string): void;
  /** Milliseconds, to measure rates by. */
  now(): number;
  /** A random word for each scenario, so that it can be played again on the same service. */
  newRun(): string;
  /** Called when a step's answer has been judged; it may throw, which ends the replay. */
  afterStep?: (scenario: Scenario, step: Step, index: number, variables: Variables) => Promise<void>;
}

/** How a replay went. */
export interface ReplayResult {
  passed: number;
  failed: number;
  skipped: number;
  outcomes: Outcome[];
}

const extensionUrn = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';

/** Variables that only some runners can give. */
const optional = ['seedEmail', 'tokenEndpoint', 'clientId', 'clientSecret', 'clientBasic', 'entraAssertion'];
/** What a scenario with this tag cannot do without, even if no step names it. */
const neededByTag: Record<string, string> = { oauth: 'tokenEndpoint', 'needs-seed': 'seedEmail' };

/** Plays scenarios one after the other and tells how each went; throws a `ScenarioFault` before the first is played. */
export async function replay(settings: ReplayOptions): Promise<ReplayResult> {
  const scenarios = settings.files.flatMap(readScenarios);
  const line = rawClient();
  const { url, now, afterStep } = settings;
  const stage: PlayDeps = { url, now, afterStep, wire: line };
  const outcomes: Outcome[] = [];
  try {
    for (const scenario of scenarios) {
      const outcome = await playScenario(scenario, settings, stage);
      outcomes.push(outcome);
      for (const text of outcomeLines(outcome)) settings.print(text);
    }
  } finally {
    line.close();
  }
  settings.print(summaryLine(outcomes));
  const count = (kind: Outcome['kind']) => outcomes.filter((outcome) => outcome.kind === kind).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped'), outcomes };
}

async function playScenario(scenario: Scenario, settings: ReplayOptions, stage: PlayDeps): Promise<Outcome> {
  const { token, variables: given = {} } = settings;
  const missing = missingVariables(scenario, given);
  if (missing.length > 0) return { kind: 'skipped', scenario, missing };
  const variables = { extensionUrn, run: settings.newRun(), ...given, token };
  const played = await playSteps(scenario, variables, stage);
  const isDifferent = ({ mismatches }: StepResult) => mismatches.length > 0;
  return played.some(isDifferent)
    ? { kind: 'failed', scenario, played }
    : { kind: 'passed', scenario, steps: played.length };
}

function missingVariables({ tags, steps }: Scenario, given: Variables): string[] {
  const named = variableNames(steps);
  const needed = [
    ...tags.flatMap((tag) => neededByTag[tag] ?? []),
    ...optional.filter((name) => named.has(name)),
  ];
  return [...new Set(needed)].filter((name) => given[name] === undefined);
}
