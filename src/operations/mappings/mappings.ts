import { z } from 'zod';
import type { Connection } from '../../model/connection.ts';
import { describeTravelFailure } from '../../model/travel-ports.ts';
import { findAttributeValues } from '../../provisioning/rules/attribute-values.ts';
import {
  compareMappings,
  countRules,
  defaultMapping,
  findVersion,
  listVersions,
  type MappingDifference,
} from '../../provisioning/rules/mapping-versions.ts';
import type { RulesSnapshot } from '../../provisioning/rules/rules-snapshot.ts';
import { attributePaths } from '../../schema/attribute-paths.ts';
import { userType } from '../../schema/resource-types.ts';
import type { MappingVersion } from '../../store/queues/rules-in-force.ts';
import { otherRules, ruleUses } from '../../translator/default-rules.ts';
import { mappingSources } from '../../translator/mapping/mapping-file.ts';
import { isSyntaxProblem, parseSourcePath } from '../../translator/mapping/rule-syntax.ts';
import { type ConfiguredConnection, findConnection, type MappingDeps, type OperationDeps } from '../deps.ts';
import { OperationError } from '../errors.ts';
import { mappingOperation, type Operations, operation } from '../operation.ts';
import { limit, optionalText, time } from '../schemas.ts';

/** The number of a version. */
export const versionNumber = z
  .int()
  .min(1)
  .describe('The place of a version in the history: 1 for the first mapping');

/** The generation of a version. */
export const generation = z
  .int()
  .min(0)
  .describe(
    'The state of the rules with which a version came into force; 0 if no mapping was ever in force. A change names the one that it was compared with',
  );

/** The text of a mapping, which can be longer in a file than what a change accepts. */
export const storedText = z.string().describe('The mapping as JSON text, as in a mapping file');

/** Any value of JSON; absent if there is none. */
export const optionalValue = z.unknown().optional();

const version = z
  .object({
    number: versionNumber,
    generation,
    appliedAt: time,
    source: z
      .enum(mappingSources)
      .describe(
        'page: it was put in force here, or by a script; command: on the command line; file: a mapping file was read; default: the default rules',
      ),
    author: optionalText.describe(
      'The account or token, the user of the operating system, or the path of the mapping file',
    ),
    rules: z.int().describe('The number of its own rules'),
  })
  .meta({ id: 'MappingVersion', description: 'A mapping that is or was in force' });

export type ListedMappingVersion = z.input<typeof version>;

const difference = z
  .object({
    addedRules: z.array(z.unknown()),
    removedRules: z.array(z.unknown()),
    members: z.array(z.object({ name: z.string(), before: optionalValue, after: optionalValue })),
  })
  .meta({ id: 'MappingDifference' });

const changes = z.object({
  addedRules: z.int(),
  removedRules: z.int(),
  members: z.array(z.string()).describe('The names of the other members that differ'),
});

export type ListedMappingDifference = z.input<typeof difference>;

const proposedRules = z
  .object({
    digest: z.string().describe('Names what is proposed; a decision names the one that was shown'),
    since: time,
    state: z
      .enum(['counting', 'waits'])
      .describe(
        'counting: the people whom it would change are counted; waits: they are more than 100, and an admin decides',
      ),
    source: z.enum(mappingSources),
    author: optionalText,
    text: storedText,
    difference,
    collection: difference
      .pick({ addedRules: true, removedRules: true })
      .optional()
      .describe('The changes of the rules of the travel service; absent if they stay'),
  })
  .meta({ id: 'ProposedRules', description: 'Rules that are not in force yet' });

export type ListedProposedRules = z.input<typeof proposedRules>;

const otherRule = z
  .object({
    origin: z.enum(['collection', 'default']),
    field: z.string().describe('The key of the field; roles for all roles'),
    use: z
      .enum(ruleUses)
      .describe(
        'otherwise: for people for whom no condition of an earlier rule holds; replaced: an earlier rule sets the field',
      ),
    written: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('The rule as a mapping could have it; absent if no rule can set the field'),
    others: z.array(z.string()).describe('What the rule reads after that, and no SCIM path can say'),
    setting: optionalText.describe('The setting of the mapping with the value of people without one'),
  })
  .meta({ id: 'OtherRule', description: 'A rule that is in force without being in the mapping' });

export type OtherRule = z.input<typeof otherRule>;

const named = z.array(z.string());

/** The mapping of each connection: what is in force, and its history. */
export const mappingOperations = {
  listMappings: operation(
    {
      ...{ method: 'get', path: '/mappings', tag: 'Mappings', access: 'viewer' },
      summary: 'List the connections with their mappings in force',
      result: z.object({
        mappings: z.array(
          z.object({
            connection: z.string(),
            version: version.optional(),
            file: optionalText.describe(
              'The mapping file of the settings, which replaces the mapping when its content changes',
            ),
          }),
        ),
      }),
    },
    async (_input, deps) => ({ mappings: await Promise.all(deps.connections.map(describe(deps))) }),
  ),
  readMapping: operation(
    {
      ...{ method: 'get', path: '/mappings/{connection}', tag: 'Mappings', access: 'viewer' },
      summary: 'Read the mapping in force',
      result: z.object({ version: version.optional(), text: storedText }),
    },
    async ({ params }, deps) => {
      const version = await findVersion(deps.store.rules, idOf(params, deps));
      return { version: version && toVersion(version), text: textOf(version?.mapping ?? defaultMapping) };
    },
  ),
  listOtherRules: mappingOperation(
    {
      ...{ method: 'get', path: '/mappings/{connection}/other-rules', tag: 'Mappings', access: 'viewer' },
      summary:
        'List the rules that are in force besides those of the mapping: of the travel service, and the default rules',
      result: z.object({ rules: z.array(otherRule) }),
    },
    async ({ params }, deps) => ({
      rules: otherRules((await currentRules(connectionOf(params, deps), deps)).rules),
    }),
  ),
  listMappingNames: mappingOperation(
    {
      ...{ method: 'get', path: '/mappings/{connection}/names', tag: 'Mappings', access: 'viewer' },
      summary:
        'List the SCIM paths, and the names of the travel service, that a mapping can contain; at most 1,000 of each kind',
      result: z.object({
        scimAttributes: z
          .array(z.object({ path: z.string(), description: z.string() }))
          .describe('The SCIM paths of users that a rule can read'),
        customFields: z.array(
          z.object({ id: z.string(), name: z.string(), dataType: z.string(), options: named }),
        ),
        ...{ costCenters: named, billingProfiles: named, travelPolicies: named },
      }),
    },
    async ({ params }, deps) => namesOf(await currentRules(connectionOf(params, deps), deps)),
  ),
  findGroupNames: operation(
    {
      ...{ method: 'get', path: '/mappings/{connection}/group-names', tag: 'Mappings', access: 'viewer' },
      summary: 'Find the names of groups that the identity provider has sent; at most 100',
      query: z.strictObject({
        beginning: z.string().max(300).default('').describe('The beginning of the names, without case'),
      }),
      result: z.object({ names: named }),
    },
    async ({ params, query }, deps) => {
      const id = idOf(params, deps);
      return { names: await deps.store.memberships.findNames(id, query.beginning, MAX_GROUP_NAMES) };
    },
  ),
  findAttributeValues: operation(
    {
      ...{
        method: 'get',
        path: '/mappings/{connection}/attribute-values',
        tag: 'Mappings',
        access: 'viewer',
      },
      summary: 'Find the values that people have in a SCIM attribute, the most frequent first; at most 20',
      query: z.strictObject({
        path: z.string().max(500).default('').describe('A SCIM path, as a rule reads it'),
      }),
      result: z.object({
        values: z
          .array(z.object({ value: z.string(), people: z.int() }))
          .describe('Empty for a path that users do not have. The first 500 people are looked at'),
      }),
    },
    async ({ params, query }, deps) => {
      const path = parseSourcePath(query.path);
      const id = idOf(params, deps);
      if (isSyntaxProblem(path)) return { values: [] };
      return { values: await findAttributeValues(deps.store.identities, id, path) };
    },
  ),
  findExamplePerson: operation(
    {
      ...{ method: 'get', path: '/mappings/{connection}/example-person', tag: 'Mappings', access: 'viewer' },
      summary: 'Find a person to show what the mapping does: one whom an identity provider has sent',
      result: z.object({ id: optionalText.describe('Absent if no identity provider has sent a person') }),
    },
    async ({ params }, deps) => ({
      id: await deps.store.people.findExample(idOf(params, deps)),
    }),
  ),
  readMappingProgress: operation(
    {
      ...{ method: 'get', path: '/mappings/{connection}/progress', tag: 'Mappings', access: 'viewer' },
      summary: 'Read how far people follow the mapping in force',
      result: z.object({
        state: z
          .enum(['done', 'running'])
          .describe('done: everybody is translated with it; running: the rest is'),
        left: z.int().describe('People who were last translated with earlier rules; at most 10,000'),
      }),
    },
    ({ params }, deps) => readProgress(idOf(params, deps), deps),
  ),
  readProposedMapping: operation(
    {
      ...{ method: 'get', path: '/mappings/{connection}/proposed', tag: 'Mappings', access: 'viewer' },
      summary: 'Read the rules that are proposed, while those in force stay so',
      result: z.object({ proposed: proposedRules.optional() }),
    },
    async ({ params }, deps) => ({ proposed: await describeProposed(idOf(params, deps), deps) }),
  ),
  listMappingVersions: operation(
    {
      ...{ method: 'get', path: '/mappings/{connection}/versions', tag: 'Mappings', access: 'viewer' },
      summary: 'List the mappings that are and were in force, the newest first',
      query: z.strictObject({ limit }),
      result: z.object({ versions: z.array(version.extend({ changes })) }),
    },
    async ({ params, query }, deps) => {
      // The change of the oldest one on the page is that from the one before it.
      const versions = await listVersions(deps.store.rules, idOf(params, deps), query.limit + 1);
      return {
        versions: versions.slice(0, query.limit).map((one, index) => ({
          ...toVersion(one),
          changes: toChanges(compareMappings(versions[index + 1]?.mapping ?? defaultMapping, one.mapping)),
        })),
      };
    },
  ),
  readMappingVersion: operation(
    {
      ...{
        method: 'get',
        path: '/mappings/{connection}/versions/{version}',
        tag: 'Mappings',
        access: 'viewer',
      },
      summary: 'Read a mapping of the history, and what it changed',
      result: z.object({ version, text: storedText, difference }),
    },
    ({ params }, deps) => readVersion(idOf(params, deps), params.version, deps),
  ),
} satisfies Operations;

function idOf({ connection }: { connection: string }, deps: OperationDeps): string {
  return findConnection(deps, connection).settings.id;
}

/** Finds a connection with its client for the travel API. */
export function connectionOf({ connection }: { connection: string }, deps: MappingDeps): Connection {
  return findConnection(deps, connection).connection;
}

function describe({ store }: OperationDeps) {
  return async ({ settings: { id, mappingFile } }: ConfiguredConnection) => {
    const version = await findVersion(store.rules, id);
    return { connection: id, version: version && toVersion(version), file: mappingFile };
  };
}

function toVersion(version: MappingVersion) {
  return { ...version, rules: countRules(version) };
}

function toChanges({ addedRules, removedRules, members }: MappingDifference) {
  const names = members.map(({ name }) => name);
  return { addedRules: addedRules.length, removedRules: removedRules.length, members: names };
}

/** Formats a stored mapping like a mapping file. */
export function textOf(mapping: unknown): string {
  return `${JSON.stringify(mapping, null, 2)}\n`;
}

/** The number of people up to which those who follow later are counted. */
const MAX_LEFT = 10_000;

/** Reads how far people follow the rules in force. */
async function readProgress(id: string, { store: { rules }, now }: OperationDeps) {
  const generation = (await rules.findHead(id, now()))?.generation ?? 0;
  const left = await rules.countTranslatedEarlier(id, generation, MAX_LEFT);
  return { state: left === 0 ? ('done' as const) : ('running' as const), left };
}

async function describeProposed(id: string, { store: { rules } }: OperationDeps) {
  const { proposed } = await rules.findProposals(id);
  const inForce = await rules.find(id);
  if (!proposed || !inForce) return undefined;
  const { digest, since, source, author, mapping, collection, people } = proposed;
  const rulesOf = (scimUserMapping: unknown) => ({ scimUserMapping });
  const { members: _, ...changes } = compareMappings(
    rulesOf(inForce.lookups?.scimUserMappings),
    rulesOf(collection),
  );
  return {
    ...{ digest, since, source, author, text: textOf(mapping) },
    state: people === undefined ? ('counting' as const) : ('waits' as const),
    difference: compareMappings(inForce.mapping, mapping),
    ...(collection && { collection: changes }),
  };
}

/** Reads a mapping of the history, and what it has changed. */
async function readVersion(id: string, number: string, { store }: OperationDeps) {
  const versions = await listVersions(store.rules, id);
  const index = versions.findIndex((one) => String(one.number) === number);
  const [version, before] = [versions[index], versions[index + 1]];
  if (!version) throw noSuchVersion(number);
  const difference = compareMappings(before?.mapping ?? defaultMapping, version.mapping);
  return { version: toVersion(version), text: textOf(version.mapping), difference };
}

/** Returns the error for a number that the history does not have. */
export function noSuchVersion(version: string | number): OperationError {
  return new OperationError('notFound', `The mapping has no version ${version}.`);
}

/** Returns the rules in force of a connection, with its lookups. Throws 503 with the reason if these were never read. */
export async function currentRules(
  connection: Connection,
  { provisioning }: MappingDeps,
): Promise<RulesSnapshot> {
  const current = await provisioning.currentRules(connection);
  if (!('kind' in current)) return current;
  throw new OperationError(
    'unavailable',
    `The travel API cannot be read: ${describeTravelFailure(current)}.`,
  );
}

/** The number of names of groups that one answer has. */
const MAX_GROUP_NAMES = 100;

/** The number of names of each kind that are listed. */
const MAX_NAMES = 1000;

function namesOf({ lookups }: RulesSnapshot) {
  const namesIn = (resources: { name: string; archived: boolean }[]) =>
    resources
      .filter(({ archived }) => !archived)
      .slice(0, MAX_NAMES)
      .map(({ name }) => name);
  return {
    scimAttributes: attributePaths(userType),
    customFields: lookups.customFields
      .filter(({ disabled }) => !disabled)
      .slice(0, MAX_NAMES)
      .map(({ id, name, dataType, options }) => ({
        ...{ id, name, dataType },
        options: options.slice(0, MAX_NAMES).map(({ data }) => data),
      })),
    costCenters: namesIn(lookups.costCenters),
    billingProfiles: namesIn(lookups.billingProfiles),
    travelPolicies: namesIn(lookups.travelPolicies),
  };
}
