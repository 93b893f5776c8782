import { z } from 'zod';
import type {
  CheckedMapping,
  KnownNames,
  PreviewInput,
  StoredReads,
  TaskContext,
} from '../admin/mapping-thread/tasks.ts';
import type { Connection } from '../provisioning/connection.ts';
import type { Identity } from '../provisioning/identity.ts';
import {
  authorOf,
  compareMappings,
  countRules,
  defaultMapping,
  findReplacedSince,
  findVersion,
  listVersions,
  type MappingDifference,
} from '../provisioning/rules/mapping-versions.ts';
import { identityForPreview } from '../provisioning/rules/preview-person.ts';
import { needsApproval } from '../provisioning/rules/rules-change.ts';
import type { RulesSnapshot } from '../provisioning/rules/rules-snapshot.ts';
import { describeTravelFailure } from '../provisioning/travel-ports.ts';
import { attributePaths } from '../schema/attribute-paths.ts';
import { normalize } from '../schema/normalize.ts';
import { type JsonObject, SchemaFault } from '../schema/resource.ts';
import { userType } from '../schema/resource-types.ts';
import type { MappingVersion } from '../store/queues/rules-in-force.ts';
import { otherRules, ruleUses } from '../translator/mapping/default-rules.ts';
import type { MappingFault } from '../translator/mapping/mapping-faults.ts';
import { mappingSources } from '../translator/mapping/mapping-file.ts';
import { scopeVerdicts } from '../translator/translation.ts';
import { findConnection, type MappingDeps, type ServedConnection } from './deps.ts';
import type { ErrorCode } from './errors.ts';
import { OperationError } from './errors.ts';
import { mappingOperation, type OperationContext, type Operations } from './operation.ts';
import {
  findingMembers,
  id,
  limit,
  optionalInteger,
  optionalText,
  ruleMembers,
  time,
  toTime,
} from './schemas.ts';

const number = z.int().min(1).describe('The place of a version in the history: 1 for the first mapping');

const generation = z
  .int()
  .min(0)
  .describe(
    'The state of the rules with which a version came into force; 0 if no mapping was ever in force. A change names the one that it was compared with',
  );

/** A mapping file can be longer than what is accepted here. */
const storedText = z.string().describe('The mapping as JSON text, as in a mapping file');

const text = storedText.max(500_000, 'has at most 500,000 characters');

const value = z.unknown().optional();

const fault = z
  .object({
    path: z.string().describe('The JSON path in the mapping; $ is all of it'),
    problem: z.string(),
    remedy: z.string(),
  })
  .meta({ id: 'MappingFault', description: 'A faulty place of a mapping, and what to do' });

export type ListedMappingFault = z.input<typeof fault>;

const names = z
  .record(z.string(), z.string())
  .describe('The names of custom fields by key, and of the resources that the values contain by id');

const version = z
  .object({
    number,
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
    members: z.array(z.object({ name: z.string(), before: value, after: value })),
  })
  .meta({ id: 'MappingDifference' });

export type ListedMappingDifference = z.input<typeof difference>;

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

const finding = z
  .object(findingMembers)
  .meta({ id: 'PreviewedFinding', description: 'A value that would not be set on the traveler, and why' });

export type PreviewedFinding = z.input<typeof finding>;

const traceEntry = z
  .object({ field: z.string(), ...ruleMembers })
  .meta({ id: 'PreviewedRule', description: 'The effect of one rule on one field' });

export type PreviewedRule = z.input<typeof traceEntry>;

const previewedField = z
  .object({
    field: z.string(),
    outcome: z.enum(['value', 'absent', 'unresolved', 'kept', 'once']),
    value,
    isChanged: z.boolean().describe('True if the mapping in force has another result'),
    inForce: value.describe('The value that the mapping in force gives; absent if it gives none'),
  })
  .meta({ id: 'PreviewedField' });

export type PreviewedField = z.input<typeof previewedField>;

const fieldChange = z.object({ field: z.string(), before: value, after: value, isAgain: z.boolean() });

const preview = z
  .object({
    people: z.int().describe('The number of people looked at'),
    isCut: z.boolean().describe('True if there was no time to look at everybody'),
    changed: z.int().describe('People for whose traveler a call would be sent'),
    created: z.int().describe('People who would get a traveler at last'),
    pending: z.int().describe('People who would get no traveler any more'),
    outOfScope: z
      .int()
      .describe('People whom the scope would leave out, without a call: they have no traveler, or keep it'),
    needsApproval: z.boolean().describe('True if the change would be held for approval'),
    fields: z.array(
      z.object({ field: z.string(), set: z.int(), cleared: z.int(), again: z.int(), released: z.int() }),
    ),
    findings: z.array(z.object({ field: z.string(), code: z.string(), comes: z.int(), goes: z.int() })),
    examples: z.array(
      z.object({
        id: z.string(),
        userName: z.string(),
        outcome: z.enum(['changed', 'created', 'pending', 'outOfScope']),
        changes: z.array(fieldChange),
        comes: z.array(finding),
        goes: z.array(finding),
      }),
    ),
    names,
  })
  .meta({ id: 'MappingPreview', description: 'The changes that a mapping would make for all people' });

export type ListedMappingPreview = z.input<typeof preview>;

const change = z.object({ outcome: z.enum(['applied', 'unchanged']), version: number, generation });

/** The errors of operations that compute with a mapping. */
const computing = ['busy', 'tooCostly'] satisfies ErrorCode[];

const named = z.array(z.string());

const restoreBody = z.strictObject({
  version: number,
  generation,
  values: z
    .boolean()
    .default(false)
    .describe(
      'True: the values that later versions have replaced are put back where the restored one does not set their fields',
    ),
});

const previewBody = z.strictObject({
  text,
  examples: z.int().min(0).max(100).default(10),
  valuesSince: number
    .optional()
    .describe(
      'A version of the history: the values that the versions after it have replaced are put back where the mapping does not set their fields',
    ),
});

const personBody = z.strictObject({
  text,
  person: id.optional(),
  user: z.record(z.string(), z.json()).optional(),
});

/** The mapping of each connection: what is in force, what another one would change, and its history. */
export const mappingOperations = {
  listMappings: mappingOperation(
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
  readMapping: mappingOperation(
    {
      ...{ method: 'get', path: '/mappings/{connection}', tag: 'Mappings', access: 'viewer' },
      summary: 'Read the mapping in force',
      result: z.object({ version: version.optional(), text: storedText }),
    },
    async ({ params }, deps) => {
      const version = await findVersion(deps.store.rules, connectionOf(params, deps).id);
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
  findGroupNames: mappingOperation(
    {
      ...{ method: 'get', path: '/mappings/{connection}/group-names', tag: 'Mappings', access: 'viewer' },
      summary: 'Find the names of groups that the identity provider has sent; at most 100',
      query: z.strictObject({
        beginning: z.string().max(300).default('').describe('The beginning of the names, without case'),
      }),
      result: z.object({ names: named }),
    },
    async ({ params, query }, deps) => {
      const { id } = connectionOf(params, deps);
      return { names: await deps.store.memberships.findNames(id, query.beginning, MAX_GROUP_NAMES) };
    },
  ),
  findExamplePerson: mappingOperation(
    {
      ...{ method: 'get', path: '/mappings/{connection}/example-person', tag: 'Mappings', access: 'viewer' },
      summary: 'Find a person to show what the mapping does: one whom an identity provider has sent',
      result: z.object({ id: optionalText.describe('Absent if no identity provider has sent a person') }),
    },
    async ({ params }, deps) => ({
      id: await deps.store.people.findExample(connectionOf(params, deps).id),
    }),
  ),
  checkMapping: mappingOperation(
    {
      ...{ method: 'post', path: '/mappings/{connection}/check', tag: 'Mappings', access: 'viewer' },
      summary: 'Find every fault of a mapping, and every name that the travel service does not have',
      changesNothing: true,
      body: z.strictObject({ text }),
      result: z.object({
        faults: z.array(fault),
        warnings: z.array(fault).describe('Names that are allowed but probably misspelled'),
        unchecked: optionalText.describe(
          'The reason for which names could not be looked up; absent if they were',
        ),
      }),
      errors: computing,
    },
    async ({ params, body }, deps, context) => {
      const { faults, warnings, unchecked } = await check(
        connectionOf(params, deps),
        body.text,
        deps,
        context,
      );
      return { faults, warnings, unchecked };
    },
  ),
  previewPerson: mappingOperation(
    {
      ...{ method: 'post', path: '/mappings/{connection}/preview-person', tag: 'Mappings', access: 'viewer' },
      summary: 'Translate one person with a mapping: a stored one by id, or a SCIM user',
      changesNothing: true,
      body: personBody,
      result: z.object({
        userName: z.string(),
        fields: z.array(previewedField),
        trace: z.array(traceEntry),
        findings: z.array(finding),
        fallbackEmail: optionalText,
        scope: z.enum(scopeVerdicts).describe('Whether the person is in the scope of the mapping'),
        names,
      }),
      errors: computing,
    },
    ({ params, body }, deps, context) => previewOnePerson(connectionOf(params, deps), body, deps, context),
  ),
  previewMapping: mappingOperation(
    {
      ...{ method: 'post', path: '/mappings/{connection}/preview', tag: 'Mappings', access: 'viewer' },
      summary: 'Compute what a mapping would change for everybody',
      changesNothing: true,
      body: previewBody,
      result: preview,
      errors: computing,
    },
    ({ params, body }, deps, context) => previewEverybody(connectionOf(params, deps), body, deps, context),
  ),
  applyMapping: mappingOperation(
    {
      ...{ method: 'put', path: '/mappings/{connection}', tag: 'Mappings', access: 'admin' },
      summary: 'Put a mapping in force, unless another one than the expected is in force',
      body: z.strictObject({ text, generation }),
      result: change,
      errors: ['conflict', ...computing],
    },
    ({ params, body }, deps, context) =>
      applyText(connectionOf(params, deps), { text: body.text, expected: body.generation }, deps, context),
  ),
  readMappingProgress: mappingOperation(
    {
      ...{ method: 'get', path: '/mappings/{connection}/progress', tag: 'Mappings', access: 'viewer' },
      summary: 'Read how far people follow the mapping in force',
      result: z.object({
        state: z
          .enum(['done', 'running', 'held', 'discarded'])
          .describe(
            'done: everybody is translated with it; running: the rest is; held: the change waits for an approval; discarded: an admin has decided against it',
          ),
        left: z.int().describe('People who were last translated with earlier rules; at most 10,000'),
        affected: optionalInteger.describe(
          'Of a change that waits: the people whom it changes, at least 101 until all are counted',
        ),
      }),
    },
    ({ params }, deps) => readProgress(connectionOf(params, deps), deps),
  ),
  listMappingVersions: mappingOperation(
    {
      ...{ method: 'get', path: '/mappings/{connection}/versions', tag: 'Mappings', access: 'viewer' },
      summary: 'List the mappings that are and were in force, the newest first',
      query: z.strictObject({ limit }),
      result: z.object({ versions: z.array(version) }),
    },
    async ({ params, query }, deps) => ({
      versions: (await listVersions(deps.store.rules, connectionOf(params, deps).id, query.limit)).map(
        toVersion,
      ),
    }),
  ),
  readMappingVersion: mappingOperation(
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
    ({ params }, deps) => readVersion(connectionOf(params, deps), params.version, deps),
  ),
  restoreMappingVersion: mappingOperation(
    {
      ...{ method: 'post', path: '/mappings/{connection}/restore', tag: 'Mappings', access: 'admin' },
      summary:
        'Put a mapping of the history in force again, unless another one than the expected is in force',
      body: restoreBody,
      result: change,
      errors: ['conflict', ...computing],
    },
    ({ params, body }, deps, context) => restoreVersion(connectionOf(params, deps), body, deps, context),
  ),
} satisfies Operations;

function connectionOf({ connection }: { connection: string }, deps: MappingDeps): Connection {
  return findConnection(deps, connection).connection;
}

/** The number of people up to which those who follow later are counted. */
const MAX_LEFT = 10_000;

/** Reads how far people follow the rules in force. */
async function readProgress({ id }: Connection, { store: { rules, holds }, now }: MappingDeps) {
  const generation = (await rules.findHead(id, now()))?.generation ?? 0;
  const left = await holds.countTranslatedEarlier(id, generation, MAX_LEFT);
  if (left === 0) return { state: 'done' as const, left };
  const change = await holds.findHeldRules(id);
  if (change?.generation !== generation || change.answer === 'approved')
    return { state: 'running' as const, left };
  return { state: change.answer ?? ('held' as const), left, affected: change.people };
}

/** Reads a mapping of the history, and what it has changed. */
async function readVersion({ id }: Connection, number: string, { store }: MappingDeps) {
  const versions = await listVersions(store.rules, id);
  const index = versions.findIndex((one) => String(one.number) === number);
  const [version, before] = [versions[index], versions[index + 1]];
  if (!version) throw noSuchVersion(number);
  const difference = compareMappings(before?.mapping ?? defaultMapping, version.mapping);
  return { version: toVersion(version), text: textOf(version.mapping), difference };
}

/** Puts a mapping of the history in force again. */
async function restoreVersion(
  connection: Connection,
  { version: number, generation: expected, values }: z.output<typeof restoreBody>,
  deps: MappingDeps,
  context: OperationContext,
) {
  const { rules } = deps.store;
  const version = await findVersion(rules, connection.id, number);
  if (!version) throw noSuchVersion(number);
  context.note({ restored: number, values });
  const putBackSince = values ? await findReplacedSince(rules, connection.id, number) : undefined;
  return applyText(connection, { text: textOf(version.mapping), expected, putBackSince }, deps, context);
}

function noSuchVersion(version: string | number): OperationError {
  return new OperationError('notFound', `The mapping has no version ${version}.`);
}

function describe({ store }: MappingDeps) {
  return async ({ connection: { id }, settings }: ServedConnection) => {
    const version = await findVersion(store.rules, id);
    return { connection: id, version: version && toVersion(version), file: settings.mappingFile };
  };
}

function toVersion(version: MappingVersion) {
  return { ...version, rules: countRules(version) };
}

function textOf(mapping: unknown): string {
  return `${JSON.stringify(mapping, null, 2)}\n`;
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

function faulty(faults: MappingFault[]): OperationError {
  const told = faults.map(({ path, problem, remedy }) => ({ field: path, message: `${problem}. ${remedy}` }));
  return new OperationError('invalid', 'The mapping has faults. Nothing was applied.', { faults: told });
}

type Caller = Pick<OperationContext, 'caller' | 'signal'>;

function taskContext({ store }: MappingDeps, { caller, signal }: Caller): TaskContext {
  const { identities, references, memberships } = store;
  const reads: StoredReads = {
    ...identities,
    findReferenceRows: references.findRows,
    findMemberships: memberships.findOf,
    findUnknownGroupNames: memberships.findUnknownNames,
  };
  return { caller: caller?.id ?? '', reads, signal };
}

/** Checks a text. The travel API is asked only for a mapping with names. */
async function check(
  connection: Connection,
  text: string,
  deps: MappingDeps,
  caller: Caller,
): Promise<CheckedMapping> {
  const context = taskContext(deps, caller);
  const input = { text, connection: connection.id };
  const checked = await deps.tasks.run('check', input, context);
  if (!checked.needsNames) return checked;
  return deps.tasks.run('check', { ...input, names: await knownNames(connection, deps) }, context);
}

async function knownNames(connection: Connection, { provisioning }: MappingDeps): Promise<KnownNames> {
  const current = await provisioning.currentRules(connection);
  if (!('kind' in current)) return { lookups: current.lookups };
  return { unchecked: `The travel API cannot be read: ${describeTravelFailure(current)}.` };
}

function previewInput(
  { travel: _travel, lookups: _lookups, feed: _feed, ...connection }: Connection,
  text: string,
  { rules, ...inForce }: RulesSnapshot,
): PreviewInput {
  return { text, connection, inForce: { ...inForce, mapping: rules.mapping } };
}

type PreviewedSubject = z.output<typeof personBody>;

async function previewOnePerson(
  connection: Connection,
  { text, ...subject }: PreviewedSubject,
  deps: MappingDeps,
  caller: Caller,
) {
  const inForce = await currentRules(connection, deps);
  const identity = await findPreviewedPerson(connection, subject, deps);
  const input = { ...previewInput(connection, text, inForce), identity };
  const preview = await deps.tasks.run('previewPerson', input, taskContext(deps, caller));
  if ('faults' in preview) throw faulty(preview.faults);
  return preview;
}

/** Finds the person of a preview. Throws 404 or 422. */
async function findPreviewedPerson(
  connection: Connection,
  { person, user }: Omit<PreviewedSubject, 'text'>,
  { store: { identities }, now, newId }: MappingDeps,
): Promise<Identity> {
  if (user !== undefined && person === undefined)
    return identityForPreview(
      { identities },
      { connection, user: readUser(user) },
      { now, wallClock: now, newId },
    );
  if (person === undefined || user !== undefined)
    throw new OperationError('invalid', 'Give either the id of a person or a SCIM user.', {
      faults: [{ field: 'person', message: 'is needed, unless a user is given' }],
    });
  const found = await identities.findById(connection.id, person);
  if (!found)
    throw new OperationError('notFound', `There is no person ${person} in the connection ${connection.id}.`);
  return found;
}

function readUser(body: JsonObject): JsonObject {
  try {
    return normalize(userType, body).resource;
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    throw new OperationError('invalid', error.message, {
      faults: [{ field: 'user', message: error.message }],
    });
  }
}

/** The longest time that a preview of everybody takes, in milliseconds. It ends early if the time is over. */
const PREVIEW_MS = 5_000;

async function previewEverybody(
  connection: Connection,
  { text, examples, valuesSince }: z.output<typeof previewBody>,
  deps: MappingDeps,
  caller: Caller,
) {
  const inForce = await currentRules(connection, deps);
  const ownUser = await connection.lookups.readOwnUser();
  const putBackSince =
    valuesSince === undefined
      ? undefined
      : await findReplacedSince(deps.store.rules, connection.id, valuesSince);
  const input = {
    ...previewInput(connection, text, inForce),
    ...{ ownUser, examples, maxMs: PREVIEW_MS, putBackSince },
  };
  const preview = await deps.tasks.run('previewEverybody', input, taskContext(deps, caller));
  if ('faults' in preview) throw faulty(preview.faults);
  const { people, changed, created, pending, outOfScope, fields, findings, names } = preview;
  return {
    ...{ people, changed, created, pending, outOfScope },
    ...{ fields, findings, names, examples: preview.examples },
    isCut: preview.isCut === true,
    needsApproval: needsApproval(preview),
  };
}

/** Applies a mapping that the check has found to be in order, so that this thread compiles none that takes long. */
async function applyText(
  connection: Connection,
  { text, ...version }: { text: string; expected: number; putBackSince?: number | undefined },
  deps: MappingDeps,
  context: OperationContext,
) {
  const { mapping, faults } = await check(connection, text, deps, context);
  if (!mapping || faults.length > 0) throw faulty(faults);
  const result = await deps.provisioning.applyMapping({
    ...{ connection: connection.id, mapping, ...version },
    source: context.caller?.kind === 'command' ? 'command' : 'page',
    author: context.caller?.shownName ?? '',
    now: deps.now(),
  });
  if (result.outcome === 'conflict') throw conflict(result);
  const { before, ...change } = result;
  context.note({ version: change.version, before });
  return change;
}

/** The difference is told like faults: each rule and member that the other admin has changed. */
function conflict({
  version,
  difference,
}: {
  version: MappingVersion;
  difference: MappingDifference;
}): OperationError {
  const { number, appliedAt } = version;
  const by = authorOf(version).replace(
    /^(a|the) /,
    (article) => `${article.charAt(0).toUpperCase()}${article.slice(1)}`,
  );
  const at = `${toTime(appliedAt).slice(0, 16).replace('T', ' ')} UTC`;
  const { addedRules, removedRules, members } = difference;
  const rule = (what: string) => (one: unknown) => ({
    field: 'scimUserMapping',
    message: `${what} ${JSON.stringify(one)}`,
  });
  const faults = [
    ...addedRules.map(rule('added')),
    ...removedRules.map(rule('removed')),
    ...members.map(({ name, before, after }) => ({
      field: name,
      message: `changed from ${JSON.stringify(before)} to ${JSON.stringify(after)}`,
    })),
  ];
  const message = `${by} has put another mapping in force at ${at} (version ${number}). Nothing was applied: add that change to yours and apply again.`;
  return new OperationError('conflict', message, { faults });
}
