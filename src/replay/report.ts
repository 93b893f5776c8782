import { type Mismatch, namesIn, type Played, play, type Stage, type Variables, wire } from './player.ts';
import { readScenarios, type Scenario, type Step } from './scenario.ts';

/** What one scenario came to. */
export type Outcome =
  | { kind: 'passed'; scenario: Scenario; steps: number }
  | { kind: 'failed'; scenario: Scenario; played: Played[] }
  | { kind: 'skipped'; scenario: Scenario; missing: string[] };

/** The lines that tell one outcome: a mismatch names the request, the place, what was expected and what came. */
export function linesOf(outcome: Outcome): string[] {
  const { name, severity } = outcome.scenario;
  switch (outcome.kind) {
    case 'passed':
      return [`passed   ${name} (${counted(outcome.steps, 'step')})`];
    case 'skipped':
      return [`skipped  ${name}: not given: ${outcome.missing.join(', ')}`];
    case 'failed':
      return [`FAILED   ${name} (${severity})`, ...outcome.played.flatMap(linesOfStep)];
  }
}

/** One line that counts. */
export function summaryOf(outcomes: Outcome[]): string {
  const of = (kind: Outcome['kind']) => outcomes.filter((outcome) => outcome.kind === kind).length;
  const all = counted(outcomes.length, 'scenario');
  return `${all}: ${of('passed')} passed, ${of('failed')} failed, ${of('skipped')} skipped`;
}

function linesOfStep({ index, method, target, step, mismatches }: Played): string[] {
  if (mismatches.length === 0) return [];
  const note = step.note === undefined ? '' : `  (${step.note})`;
  return [`  step ${index + 1}: ${method} ${target}${note}`, ...mismatches.flatMap(linesOfMismatch)];
}

function linesOfMismatch({ at, expected, actual }: Mismatch): string[] {
  return [`    ${at}`, `      expected ${shown(expected)}`, `      but was  ${shown(actual)}`];
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : (JSON.stringify(value) ?? String(value));
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** What to play, against what, and what the scenarios may know. */
export interface Replay {
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
export interface Replayed {
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
export async function replay(settings: Replay): Promise<Replayed> {
  const scenarios = settings.files.flatMap(readScenarios);
  const line = wire();
  const { url, now, afterStep } = settings;
  const stage: Stage = { url, now, afterStep, wire: line };
  const outcomes: Outcome[] = [];
  try {
    for (const scenario of scenarios) {
      const outcome = await perform(scenario, settings, stage);
      outcomes.push(outcome);
      for (const text of linesOf(outcome)) settings.print(text);
    }
  } finally {
    line.close();
  }
  settings.print(summaryOf(outcomes));
  const count = (kind: Outcome['kind']) => outcomes.filter((outcome) => outcome.kind === kind).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped'), outcomes };
}

async function perform(scenario: Scenario, settings: Replay, stage: Stage): Promise<Outcome> {
  const { token, variables: given = {} } = settings;
  const missing = missingFor(scenario, given);
  if (missing.length > 0) return { kind: 'skipped', scenario, missing };
  const variables = { extensionUrn, run: settings.newRun(), ...given, token };
  const played = await play(scenario, variables, stage);
  const isDifferent = ({ mismatches }: Played) => mismatches.length > 0;
  return played.some(isDifferent)
    ? { kind: 'failed', scenario, played }
    : { kind: 'passed', scenario, steps: played.length };
}

function missingFor({ tags, steps }: Scenario, given: Variables): string[] {
  const named = namesIn(steps);
  const needed = [
    ...tags.flatMap((tag) => neededByTag[tag] ?? []),
    ...optional.filter((name) => named.has(name)),
  ];
  return [...new Set(needed)].filter((name) => given[name] === undefined);
}
