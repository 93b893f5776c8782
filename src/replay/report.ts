import {
  type Mismatch,
  playSteps,
  type RawClient,
  rawClient,
  type StepResult,
  type Variables,
  variableNames,
} from './player.ts';
import type { Scenario, Step } from './scenario.ts';
import { type TravelApi, travelerCheck } from './traveler-check.ts';

/** The outcome of one scenario. */
export type Outcome =
  | { kind: 'passed'; scenario: Scenario; played: StepResult[] }
  | { kind: 'failed'; scenario: Scenario; played: StepResult[] }
  | { kind: 'skipped'; scenario: Scenario; missing: string[] };

/** Formats an outcome. Each mismatch names the request, the place, the expected and the actual value. */
export function outcomeLines(outcome: Outcome): string[] {
  const { name, severity } = outcome.scenario;
  switch (outcome.kind) {
    case 'passed':
      return [`passed   ${name} (${countText(outcome.played.length, 'step')})`];
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
  // A status is shown with its reason, which is a sentence.
  const text = at === 'status' ? String : valueText;
  return [`    ${at}`, `      expected ${text(expected)}`, `      but was  ${text(actual)}`];
}

function valueText(value: unknown): string {
  return value === undefined ? 'missing' : (JSON.stringify(value) ?? String(value));
}

function countText(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** The scenarios to play, the service, and the variables. */
export interface ReplayOptions {
  scenarios: Scenario[];
  /** The SCIM base URL. */
  url: string;
  token: string;
  /** Variables in addition to `token`, `run` and `extensionUrn`, which every scenario has. */
  variables?: Variables;
  /** Without it, what steps expect of travelers is not checked. */
  travel?: TravelApi | undefined;
  print(line: string): void;
  /** A clock in milliseconds, to measure rates with. */
  now(): number;
  /** Returns a random word for each scenario, so that it can be played again on the same service. */
  newRun(): string;
  afterScenario?: (outcome: Outcome) => void;
  /** Called after each step. An error that it throws ends the replay. */
  afterStep?: (scenario: Scenario, step: Step, index: number, variables: Variables) => Promise<void>;
}

/** The numbers and outcomes of a replay. */
export interface ReplayResult {
  passed: number;
  failed: number;
  skipped: number;
  /** The steps whose expectations of a traveler were not checked. */
  unchecked: number;
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
  'costCenterId',
  'billingProfileId',
  'travelPolicyId',
];
/** The variable that a scenario with this tag needs, even if none of its steps names the variable. */
const neededByTag: Record<string, string> = { oauth: 'tokenEndpoint', 'needs-seed': 'seedEmail' };

/** Plays scenarios one after the other and prints their outcomes. */
export async function replay(options: ReplayOptions): Promise<ReplayResult> {
  const client = rawClient();
  const outcomes: Outcome[] = [];
  try {
    for (const scenario of options.scenarios) {
      const outcome = await playScenario(scenario, options, client);
      outcomes.push(outcome);
      options.afterScenario?.(outcome);
      for (const text of outcomeLines(outcome)) options.print(text);
    }
  } finally {
    client.close();
  }
  options.print(summaryLine(outcomes));
  const count = (kind: Outcome['kind']) => outcomes.filter((outcome) => outcome.kind === kind).length;
  const steps = outcomes.flatMap((outcome) => (outcome.kind === 'skipped' ? [] : outcome.played));
  const unchecked = steps.filter(({ isUnchecked }) => isUnchecked).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped'), unchecked, outcomes };
}

async function playScenario(scenario: Scenario, options: ReplayOptions, client: RawClient): Promise<Outcome> {
  const { url, token, travel, variables: given = {} } = options;
  const missing = missingVariables(scenario, given);
  if (missing.length > 0) return { kind: 'skipped', scenario, missing };
  const variables = { extensionUrn, run: options.newRun(), ...given, token };
  const expectsTraveler = scenario.steps.some((step) => step.travel !== undefined);
  const played = await playSteps(scenario, variables, {
    url,
    client,
    now: options.now,
    afterStep: options.afterStep,
    checkTraveler:
      travel && expectsTraveler ? travelerCheck({ client, scim: { url, token }, travel }) : undefined,
  });
  const isDifferent = ({ mismatches }: StepResult) => mismatches.length > 0;
  return played.some(isDifferent)
    ? { kind: 'failed', scenario, played }
    : { kind: 'passed', scenario, played };
}

function missingVariables({ tags, steps }: Scenario, given: Variables): string[] {
  const named = variableNames(steps);
  const needed = [
    ...tags.flatMap((tag) => neededByTag[tag] ?? []),
    ...optionalVariables.filter((name) => named.has(name)),
  ];
  return [...new Set(needed)].filter((name) => given[name] === undefined);
}
