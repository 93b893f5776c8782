import type { Mismatch } from './expectation.ts';
import type { Played } from './player.ts';
import type { Scenario } from './scenario.ts';

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
