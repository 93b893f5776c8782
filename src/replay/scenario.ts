import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isExpectation, isPath } from './matchers.ts';

const status = z.int().min(100).max(599);
const headers = z.record(z.string(), z.string()).default({});
const matcher = z.unknown().refine(isExpectation, 'not a literal, nor known matchers only');
const headerMatchers = z.record(z.string(), matcher);
const path = z.string().refine(isPath, 'not a path');
const bodyMatchers = z.record(path, matcher);

const request = z.strictObject({
  method: z.string().min(1),
  /** The path below the SCIM base URL, percent-encoded as the client sends it. */
  path: z.string().min(1),
  headers,
  /** Any JSON value. It is not parsed further, so that a recorded `__proto__` is sent as it was recorded. */
  body: z.unknown().default(null),
  rawBody: z.string().optional(),
  bodyGenerator: z
    .strictObject({
      kind: z.literal('padString'),
      template: z.unknown(),
      attribute: z.string().min(1),
      bytes: z.int().min(1).max(100_000_000),
    })
    .optional(),
  repeat: z
    .strictObject({
      count: z.int().min(1),
      concurrency: z.int().min(1),
      minPerSecond: z.number().positive().optional(),
      exactlyOne: status.optional(),
    })
    .optional(),
});

const step = z.strictObject({
  request,
  expect: z.strictObject({
    /** The accepted statuses, the preferred one first. */
    status: z.array(status).min(1),
    headers: headerMatchers.default({}),
    bodyMatches: bodyMatchers.default({}),
    bodyMatchesByStatus: z.record(z.string().regex(/^\d{3}$/), bodyMatchers).default({}),
  }),
  capture: z.record(z.string(), path).default({}),
  /** The expected traveler after the step. Only tests with access to the travel service check it. */
  travel: z.unknown().optional(),
  note: z.string().optional(),
});

const scenario = z.looseObject({
  name: z.string().min(1),
  idp: z.string().default('generic'),
  severity: z.enum(['must', 'should', 'tolerant']).default('must'),
  tags: z.array(z.string()).default([]),
  steps: z.array(step).min(1),
});

/** A scenario as it is written in a file or in code: what has a default may be missing. */
export type ScenarioDefinition = z.input<typeof scenario>;
/** A recorded exchange: the requests of an identity provider, and the answers that it needs. */
export type Scenario = z.infer<typeof scenario>;
/** One request of a scenario with the expectations of its answer. */
export type Step = z.infer<typeof step>;
/** The request of a step. */
export type StepRequest = Step['request'];
/** The expected answer of a step. */
export type Expectation = Step['expect'];

/** Checks a scenario that was made in code, and adds the defaults. */
export function parseScenario(definition: ScenarioDefinition): Scenario {
  return scenario.parse(definition);
}

/** A scenario file is missing or invalid. The message names the file and the place. */
export class ScenarioFault extends Error {
  constructor(file: string, text: string, options?: ErrorOptions) {
    super(`${file}: ${text}`, options);
    this.name = 'ScenarioFault';
  }
}

/** Reads a scenario file, or all `*.json` files of a folder in order of their names. Throws a `ScenarioFault` for an invalid one. */
export function readScenarios(path: string): Scenario[] {
  return scenarioFiles(path).map(readScenario);
}

function scenarioFiles(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new ScenarioFault(path, 'there is no such file or folder');
  if (!found.isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => name.endsWith('.json'));
  if (names.length === 0) throw new ScenarioFault(path, 'no *.json file is in this folder');
  return names.sort().map((name) => join(path, name));
}

function readScenario(file: string): Scenario {
  const read = scenario.safeParse(parseJsonFile(file));
  if (read.success) return read.data;
  const faults = read.error.issues.map(({ path, message }) => `${path.join('.') || 'the whole'}: ${message}`);
  throw new ScenarioFault(file, faults.join('; '));
}

function parseJsonFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ScenarioFault(file, 'this is no JSON', { cause: error });
  }
}
