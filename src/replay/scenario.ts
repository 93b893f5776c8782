import { readdirSync, statSync } from 'node:fs';
import { METHODS } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { type Fault, faultLine, readJsonFile } from '../config/faults.ts';
import { nearest } from '../schema/similar-words.ts';
import { faultText, toMappingFaults } from '../translator/mapping/mapping-faults.ts';
import { type ExpectationFault, findExpectationFault, isPath, matcherNames } from './matchers.ts';

const noStatus = faultText('is not an HTTP status', 'Write a number from 100 to 599, e.g. 201.');
const status = z.int(noStatus).min(100, noStatus).max(599, noStatus);
const text = z.string().min(1, faultText('is empty', 'Write a text.'));
const count = (least: number) =>
  z
    .int(faultText('is not a whole number', 'Write a number.'))
    .min(least, faultText('is too small', `Write ${least} or more.`));
const headers = z.record(z.string(), z.string()).default({});
const matcher = z.unknown().superRefine((expected, context) => {
  const fault = findExpectationFault(expected);
  if (fault) context.addIssue({ code: 'custom', message: expectationFaultText(fault) });
});
const headerMatchers = z.record(z.string(), matcher);
const path = z.string().refine(isPath, {
  message: faultText(
    'is not a path',
    'Write e.g. name.givenName, emails[0].value or emails[?(type=="work")].value.',
  ),
});
const bodyMatchers = z.record(path, matcher);

function expectationFaultText(fault: ExpectationFault): string {
  if (fault.kind === 'pattern')
    return faultText(`has a $regex that is no regular expression: ${fault.pattern}`, 'Correct the pattern.');
  const meant = nearest(fault.name, matcherNames);
  return faultText(
    `names the matcher ${fault.name}, which does not exist`,
    `${meant === undefined ? '' : `Did you mean ${meant}? `}Known: ${matcherNames.join(', ')}.`,
  );
}

/** The methods of SCIM (RFC 7644 §3.2), to suggest one of them. */
const scimMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const method = z.string().superRefine((name, context) => {
  if (METHODS.includes(name)) return;
  const meant = nearest(name, scimMethods);
  const suggestion = meant === undefined ? '' : `Did you mean ${meant}? `;
  const remedy = `${suggestion}SCIM uses ${scimMethods.join(', ')}.`;
  context.addIssue({ code: 'custom', message: faultText('is not an HTTP method', remedy) });
});
const requestPath = z
  .string()
  .regex(/^(\/|https?:\/\/|\{\{tokenEndpoint\}\})/, {
    message: faultText('does not begin with /', 'Write the path below the SCIM base URL, e.g. /Users.'),
    abort: true,
  })
  .regex(
    // Node refuses to send any other character in a path.
    /^[\u0021-\u00ff]*$/,
    faultText(
      'has a character that a URL cannot have',
      'Percent-encode it, e.g. %20 for a space and %22 for a quotation mark.',
    ),
  );

const request = z.strictObject({
  method,
  /** The path below the SCIM base URL, percent-encoded as the client sends it. */
  path: requestPath,
  headers,
  /** Any JSON value. It is not parsed further, so that a recorded `__proto__` is sent as it was recorded. */
  body: z.unknown().default(null),
  rawBody: z.string().optional(),
  bodyGenerator: z
    .strictObject({
      kind: z.literal('padString'),
      template: z.unknown(),
      attribute: text,
      bytes: count(1).max(100_000_000),
    })
    .optional(),
  repeat: z
    .strictObject({
      count: count(1),
      concurrency: count(1),
      minPerSecond: z.number().positive(faultText('is not positive', 'Write a number above 0.')).optional(),
      exactlyOne: status.optional(),
    })
    .optional(),
});

const step = z.strictObject({
  request,
  expect: z.strictObject({
    /** The accepted statuses, the preferred one first. */
    status: z.array(status).min(1, faultText('is empty', 'Write the status that you expect, e.g. [201].')),
    headers: headerMatchers.default({}),
    bodyMatches: bodyMatchers.default({}),
    bodyMatchesByStatus: z.record(z.string().regex(/^[1-5]\d{2}$/, noStatus), bodyMatchers).default({}),
  }),
  capture: z.record(z.string(), path).default({}),
  /** Fields of the traveler after the step. They are checked if the travel API can be read. */
  travel: z.record(z.string(), z.unknown()).optional(),
  note: z.string().optional(),
});

const scenario = z.strictObject({
  $schema: z.string().optional(),
  name: text,
  idp: z.string().default('generic'),
  source: z.string().optional(),
  evidence: z.string().optional(),
  notes: z.string().optional(),
  severity: z.enum(['must', 'should', 'tolerant']).default('must'),
  tags: z.array(z.string()).default([]),
  steps: z.array(step).min(1, faultText('is empty', 'Write at least one step.')),
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

/** Scenarios have faults; nothing has been played. The message has one line for each fault: file, JSON path, problem and remedy. */
export class ScenarioFault extends Error {
  readonly faults: Fault[];

  constructor(faults: Fault[]) {
    super(faults.map(faultLine).join('\n'));
    this.name = 'ScenarioFault';
    this.faults = faults;
  }
}

/** Checks the JSON of a scenario, and adds the defaults. `file` names its origin in faults. Throws a `ScenarioFault`. */
export function parseScenario(definition: unknown, file = 'scenario'): Scenario {
  const read = scenario.safeParse(definition);
  if (read.success) return read.data;
  throw new ScenarioFault(toMappingFaults(read.error, scenario).map((fault) => ({ file, ...fault })));
}

/**
 * Reads a scenario file, or all `*.json` files of a folder in order of their names. Throws a `ScenarioFault` with the faults of all
 * of them.
 */
export function readScenarios(path: string): Scenario[] {
  const faults: Fault[] = [];
  const scenarios = scenarioFiles(path).flatMap((file) => {
    try {
      return [readScenario(file)];
    } catch (error) {
      if (!(error instanceof ScenarioFault)) throw error;
      faults.push(...error.faults);
      return [];
    }
  });
  if (faults.length > 0) throw new ScenarioFault(faults);
  return scenarios;
}

function scenarioFiles(path: string): string[] {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  if (!isFolder) return [path];
  const names = readdirSync(path).filter((name) => name.endsWith('.json'));
  if (names.length > 0) return names.sort().map((name) => join(path, name));
  const remedy = 'Name a folder with scenario files, or a file.';
  throw new ScenarioFault([{ file: path, path: '$', problem: 'has no *.json file', remedy }]);
}

function readScenario(file: string): Scenario {
  const read = readJsonFile(file);
  if ('json' in read) return parseScenario(read.json, file);
  throw new ScenarioFault([{ file, path: '$', problem: read.problem, remedy: read.remedy }]);
}
