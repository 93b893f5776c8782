import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { type Mapping, parseMapping } from './translator/mapping.ts';

/** Where every fault of the settings is told: file (or environment), place in it, what is wrong, what would be right. */
export interface Fault {
  file: string;
  path: string;
  problem: string;
  remedy: string;
}

/** The settings cannot be used; nothing was started. */
export class SettingsFault extends Error {
  readonly faults: Fault[];

  constructor(faults: Fault[]) {
    super(faults.map(faultLine).join('\n'));
    this.name = 'SettingsFault';
    this.faults = faults;
  }
}

/** One line for one fault. */
export function faultLine({ file, path, problem, remedy }: Fault): string {
  return `${file} ${path}: ${problem} ${remedy}`;
}

const paths = z
  .strictObject({
    whoami: z.string().startsWith('/'),
    users: z.string().startsWith('/'),
    billingProfiles: z.string().startsWith('/'),
    costCenters: z.string().startsWith('/'),
    customFields: z.string().startsWith('/'),
    customFieldOptions: z.string().startsWith('/').includes('{id}'),
    travelPolicies: z.string().startsWith('/'),
    scimUserMappings: z.string().startsWith('/'),
  })
  .partial()
  .describe('Paths of the travel API that differ from ours, e.g. {"costCenters": "/api/cost-centers"}.');

const environmentName = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]*$/, 'must be the name of an environment variable, e.g. ACME_SCIM_TOKEN');

const connection = z.strictObject({
  mapping: z.string().default('mappings/default.json').describe('The mapping file, relative to this file.'),
  scimTokenEnv: environmentName
    .optional()
    .describe('Environment variable with a bearer token for this connection; "default" uses SCIM_TOKEN.'),
  travelApi: z
    .strictObject({
      url: z
        .union([z.literal('embedded'), z.url({ protocol: /^https?$/ })])
        .optional()
        .describe(
          'Base URL of the travel API, without /api; "embedded" for the one that comes along. Default: TRAVEL_API_URL.',
        ),
      keyEnv: environmentName.default('TRAVEL_API_KEY').describe('Environment variable with the credential.'),
      account: z
        .string()
        .min(1)
        .optional()
        .describe(
          'Names the travel account: connections with the same one share its travelers. Default: URL and keyEnv.',
        ),
      paths: paths.default({}),
      timeoutMs: z
        .int()
        .min(100)
        .max(60_000)
        .default(10_000)
        .describe('Of one call, waiting for its turn included.'),
      concurrency: z.int().min(1).max(64).default(8).describe('Calls at once.'),
      perSecond: z.int().min(1).max(1_000).default(50).describe('Calls a second.'),
    })
    .prefault({}),
  policies: z
    .strictObject({
      onExistingUser: z
        .enum(['link', 'refuse'])
        .default('link')
        .describe('For a joiner whose address a traveler has.'),
      deprovision: z
        .enum(['archive', 'delete'])
        .default('archive')
        .describe('What a SCIM DELETE does to the traveler.'),
    })
    .prefault({}),
});

/** The settings file. */
export const settingsSchema = z.strictObject({
  $schema: z.string().optional(),
  writeBudgetMs: z
    .int()
    .min(0)
    .max(10_000)
    .default(800)
    .describe('How long a write may wait for the travel API before it is answered, in milliseconds.'),
  connections: z
    .record(
      z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be lower-case letters, digits and hyphens'),
      connection,
    )
    .default({ default: connection.parse({}) }),
});

const environmentSchema = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  HOST: z.string().min(1).default('127.0.0.1'),
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  JETBRIDGE_DATA: z.string().min(1).default('./data'),
  SCIM_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  TRAVEL_API_URL: z.union([z.literal('embedded'), z.url({ protocol: /^https?$/ })]).default('embedded'),
  TRAVEL_API_KEY: z.string().min(16, 'must have at least 16 characters').optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

/** One connection, complete: mapping read, secrets taken from the environment. */
export interface ConnectionSettings {
  id: string;
  mapping: Mapping;
  scimToken: string | undefined;
  /** The travel account; connections with the same one share its travelers. */
  account: string;
  travelApi: {
    url: string;
    key: string | undefined;
    paths: z.infer<typeof paths>;
    timeoutMs: number;
    concurrency: number;
    perSecond: number;
  };
  policies: z.infer<typeof connection>['policies'];
}

/** Everything that can be set, checked. */
export interface Settings {
  port: number;
  host: string;
  publicUrl: string | undefined;
  data: string;
  logLevel: z.infer<typeof environmentSchema>['LOG_LEVEL'];
  writeBudgetMs: number;
  connections: ConnectionSettings[];
}

/** Variables that a later version will heed: set today they would be ignored, and somebody would rely on them. */
const unsupported = ['DATABASE_URL', 'TLS_CERT', 'TLS_KEY', 'REQUIRE_HTTPS', 'TRUSTED_PROXIES'];

/**
 * Reads the environment and the settings file with its mapping files. `home` is the program's folder, whose file is used when
 * JETBRIDGE_CONFIG is unset and the folder has none. Throws a SettingsFault that lists every fault.
 */
export function readSettings(environment: Record<string, string | undefined>, home: string): Settings {
  const faults: Fault[] = unsupported
    .filter((name) => environment[name])
    .map((name) => ({
      file: 'environment',
      path: name,
      problem: 'is not supported by this version.',
      remedy: 'Unset it.',
    }));
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const variables = environmentSchema.safeParse(present);
  if (!variables.success) faults.push(...faultsOf('environment', variables.error, ''));
  const file = settingsFile(environment.JETBRIDGE_CONFIG, home);
  const parsed = settingsSchema.safeParse(readJson(file, faults));
  if (!parsed.success) faults.push(...faultsOf(shown(file), parsed.error, '$'));
  if (!parsed.success || !variables.success) throw new SettingsFault(faults);
  const connections = Object.entries(parsed.data.connections).map(([id, settings]) =>
    complete({ id, settings, file, present, url: variables.data.TRAVEL_API_URL, faults }),
  );
  if (faults.length > 0) throw new SettingsFault(faults);
  const {
    PORT: port,
    HOST: host,
    PUBLIC_URL: publicUrl,
    JETBRIDGE_DATA: data,
    LOG_LEVEL: logLevel,
  } = variables.data;
  return {
    port,
    host,
    publicUrl,
    data,
    logLevel,
    writeBudgetMs: parsed.data.writeBudgetMs,
    connections: connections.filter((one) => one !== undefined),
  };
}

function settingsFile(named: string | undefined, home: string): string {
  if (named) return resolve(named);
  const here = resolve('config/jetbridge.json');
  return existsSync(here) ? here : join(home, 'config/jetbridge.json');
}

interface Incomplete {
  id: string;
  settings: z.infer<typeof connection>;
  file: string;
  present: Record<string, string | undefined>;
  url: string;
  faults: Fault[];
}

function complete({ id, settings, file, present, url, faults }: Incomplete): ConnectionSettings | undefined {
  const mapping = readMapping(join(dirname(file), settings.mapping), faults);
  const { keyEnv, url: own, account, ...travelApi } = settings.travelApi;
  const api = { ...travelApi, url: own ?? url, key: present[keyEnv] };
  const ownAccount = api.url === 'embedded' ? 'embedded' : `${api.url} ${keyEnv}`;
  const tokenName = settings.scimTokenEnv ?? (id === 'default' ? 'SCIM_TOKEN' : undefined);
  const at = (path: string, problem: string, remedy: string) =>
    faults.push({ file: shown(file), path: `$.connections.${id}.${path}`, problem, remedy });
  if (api.url !== 'embedded' && api.key === undefined) {
    at(
      'travelApi.keyEnv',
      `names ${keyEnv}, which is not set.`,
      `Set ${keyEnv} to the travel API's credential.`,
    );
  }
  if (settings.scimTokenEnv && !present[settings.scimTokenEnv]) {
    at(
      'scimTokenEnv',
      `names ${settings.scimTokenEnv}, which is not set.`,
      'Set it, or make a token with "jetbridge tokens create".',
    );
  }
  if (!mapping) return undefined;
  return {
    id,
    mapping,
    account: account ?? ownAccount,
    scimToken: tokenName && present[tokenName],
    travelApi: api,
    policies: settings.policies,
  };
}

/** Reads one mapping file; its faults join the others. */
export function readMapping(file: string, faults: Fault[]): Mapping | undefined {
  const before = faults.length;
  const json = readJson(file, faults);
  if (faults.length > before) return undefined;
  const parsed = parseMapping(json);
  if ('mapping' in parsed) return parsed.mapping;
  faults.push(...parsed.faults.map((fault) => ({ file: shown(file), ...fault })));
  return undefined;
}

function readJson(file: string, faults: Fault[]): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const problem = error instanceof SyntaxError ? `is not JSON: ${error.message}.` : 'cannot be read.';
    faults.push({ file: shown(file), path: '$', problem, remedy: 'Give a file with one JSON object.' });
    return {};
  }
}

/** A path as the admin knows it: relative when below the present folder. */
function shown(file: string): string {
  const near = relative(process.cwd(), file);
  return near.startsWith('..') ? file : near;
}

function faultsOf(file: string, error: z.ZodError, root: string): Fault[] {
  return error.issues.flatMap((issue) => {
    const path = [root, ...issue.path.map(String)].filter((part) => part !== '').join('.');
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        file,
        path: `${path}.${key}`,
        problem: 'is not a known setting.',
        remedy: 'Remove it, or correct its spelling; config/jetbridge.example.json has every key.',
      }));
    }
    return [
      {
        file,
        path,
        problem: `${issue.message}.`,
        remedy: `The schema beside the file tells what is allowed.`,
      },
    ];
  });
}
