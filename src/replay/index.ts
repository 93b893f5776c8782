/**
 * The package entry `jetbridge/replay`: runs scenarios of identity providers in a project's own tests (docs/scenarios.md).
 */
import { setTimeout } from 'node:timers/promises';
import type { Mismatch } from './player.ts';
import { type Outcome, outcomeLines, replay as playScenarios, summaryLine } from './report.ts';
import { parseScenario, readScenarios, type Scenario, type ScenarioDefinition } from './scenario.ts';

export { ScenarioFault } from './scenario.ts';
export type { Mismatch, Outcome, Scenario, ScenarioDefinition };

/**
 * Reads a scenario file, or checks a scenario that is built in code and adds its defaults. Throws a `ScenarioFault`, whose message has
 * one line for each fault with its place and cure.
 */
export function scenario(source: string | ScenarioDefinition): Scenario {
  if (typeof source !== 'string') return parseScenario(source, source.name);
  const [first, ...others] = readScenarios(source);
  if (!first || others.length > 0)
    throw new TypeError(`${source} is a folder; scenarios("${source}") reads it`);
  return first;
}

/** Reads all scenario files (`*.json`) of a folder, in order of their names. Throws a `ScenarioFault` with all faults. */
export function scenarios(folder: string): Scenario[] {
  return readScenarios(folder);
}

/** The service to play against. */
export interface ReplayTarget {
  /** The SCIM base URL, e.g. `http://127.0.0.1:8080/scim/v2`. */
  url: string;
  /** A bearer token of that service. */
  token: string;
  /** Values of variables that scenarios name but do not capture. */
  variables?: Record<string, unknown>;
  /**
   * The travel API to compare travelers with (`travel` of a step). Its URL is without `/api`; by default, it is where the SCIM service
   * is. Without a key, travelers are not compared.
   */
  travel?: { url?: string; key: string };
}

/** A mismatch with its scenario and step. */
export interface PlayedMismatch extends Mismatch {
  scenario: string;
  /** The number of the step, from 1. */
  step: number;
  /** The method and the path as it was sent. */
  request: string;
}

/** The result of a replay. */
export interface ReplayReport {
  /** The number of scenarios that passed, failed, or were skipped as they need a variable that is not given. */
  passed: number;
  failed: number;
  skipped: number;
  /** The number of steps whose traveler was not compared. */
  unchecked: number;
  /** Every difference between an answer or a traveler and its expectation: `expect(report.mismatches).toEqual([])`. */
  mismatches: PlayedMismatch[];
  outcomes: Outcome[];
  /** The report as `npx jetbridge replay` prints it. */
  text: string;
}

/** Plays scenarios one after the other, each with a `run` of its own. A mismatch ends neither its scenario nor the replay. */
export async function replay(played: Scenario | Scenario[], target: ReplayTarget): Promise<ReplayReport> {
  const { url, token, variables = {}, travel } = target;
  const base = url.replace(/\/+$/, '');
  const result = await playScenarios({
    scenarios: Array.isArray(played) ? played : [played],
    url: base,
    token,
    variables,
    travel: travel && {
      url: (travel.url ?? base).replace(/\/+$/, '').replace(/\/(scim(\/v2)?|api)$/, ''),
      key: travel.key,
      pause: (ms) => setTimeout(ms),
    },
    print: () => {},
    now: Date.now,
    newRun: () => Math.random().toString(36).slice(2, 10).padEnd(8, '0'),
  });
  const { outcomes } = result;
  const text = [...outcomes.flatMap(outcomeLines), summaryLine(outcomes)].join('\n');
  return { ...result, mismatches: outcomes.flatMap(mismatchesOf), text };
}

function mismatchesOf(outcome: Outcome): PlayedMismatch[] {
  if (outcome.kind !== 'failed') return [];
  return outcome.played.flatMap(({ index, method, target, mismatches }) =>
    mismatches.map((mismatch) => ({
      scenario: outcome.scenario.name,
      step: index + 1,
      request: `${method} ${target}`,
      ...mismatch,
    })),
  );
}
