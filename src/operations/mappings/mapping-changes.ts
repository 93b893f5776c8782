import { z } from 'zod';
import type { Connection } from '../../model/connection.ts';
import type { Identity } from '../../model/identity.ts';
import { scopeVerdicts } from '../../model/translation.ts';
import { describeTravelFailure } from '../../model/travel-ports.ts';
import { needsAdmin } from '../../provisioning/mapping-changes/decide-proposal.ts';
import { identityForPreview } from '../../provisioning/mapping-changes/preview-person.ts';
import {
  authorOf,
  findReplacedSince,
  findVersion,
  type MappingDifference,
} from '../../provisioning/rules/mapping-versions.ts';
import { acceptRules, discardRules } from '../../provisioning/rules/proposed-rules.ts';
import type { RulesSnapshot } from '../../provisioning/rules/rules-snapshot.ts';
import { normalize } from '../../schema/normalize.ts';
import { type JsonObject, SchemaFault } from '../../schema/resource.ts';
import { userType } from '../../schema/resource-types.ts';
import type { MappingVersion } from '../../store/queues/rules-in-force.ts';
import type { MappingFault } from '../../translator/mapping/mapping-faults.ts';
import { groupsOf } from '../../translator/rules/groups.ts';
import { planAgain } from '../connections/shadow.ts';
import type { MappingDeps } from '../deps.ts';
import { type ErrorCode, OperationError } from '../errors.ts';
import { mappingOperation, type OperationContext, type Operations } from '../operation.ts';
import { findingMembers, id, optionalText, ruleMembers, toTime } from '../schemas.ts';
import type { CheckedMapping, KnownNames, PreviewInput, StoredReads, TaskContext } from './mapping-tasks.ts';
import {
  connectionOf,
  currentRules,
  generation,
  noSuchVersion,
  optionalValue,
  storedText,
  textOf,
  versionNumber,
} from './mappings.ts';

const text = storedText.max(500_000, 'has at most 500,000 characters');

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

const finding = z
  .object(findingMembers)
  .meta({ id: 'PreviewedFinding', description: 'A value that would not be set on the traveler, and why' });

const traceEntry = z
  .object({ field: z.string(), ...ruleMembers })
  .meta({ id: 'PreviewedRule', description: 'The effect of one rule on one field' });

export type PreviewedRule = z.input<typeof traceEntry>;

const previewedField = z
  .object({
    field: z.string(),
    outcome: z.enum(['value', 'absent', 'unresolved', 'kept']),
    value: optionalValue,
    isChanged: z.boolean().describe('True if the mapping in force has another result'),
    inForce: optionalValue.describe('The value that the mapping in force gives; absent if it gives none'),
  })
  .meta({ id: 'PreviewedField' });

export type PreviewedField = z.input<typeof previewedField>;

const fieldChange = z.object({
  field: z.string(),
  before: optionalValue,
  after: optionalValue,
  isAgain: z.boolean(),
});

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
    needsApproval: z.boolean().describe('True if the change would wait for an admin'),
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

const digest = z.string().max(100).describe('The `digest` of the proposed rules');

const change = z.object({
  outcome: z
    .enum(['applied', 'unchanged', 'proposed'])
    .describe(
      'proposed: it would change more than 100 people, or not all were looked at yet, and the mapping before it stays in force',
    ),
  version: versionNumber,
  generation,
  digest: digest.optional().describe('Of a mapping that is proposed'),
});

/** The errors of operations that compute with a mapping. */
const computing = ['busy', 'tooCostly'] satisfies ErrorCode[];

const restoreBody = z.strictObject({
  version: versionNumber,
  generation,
  values: z
    .boolean()
    .default(false)
    .describe(
      'True: the values that later versions have replaced are put back where the restored one does not set their fields',
    ),
});

const previewBody = z.strictObject({
  text: text.optional().describe('Without it: what the mapping in force has still to send'),
  proposed: digest.optional().describe('Instead of a text: the `digest` of the proposed rules'),
  examples: z.int().min(0).max(100).default(10),
  valuesSince: versionNumber
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

/** The operations that show the effect of another mapping, and that change the mapping in force. */
export const mappingChangeOperations = {
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
  decideProposedMapping: mappingOperation(
    {
      ...{ method: 'post', path: '/mappings/{connection}/proposed', tag: 'Mappings', access: 'admin' },
      summary: 'Put proposed rules in force, or discard them until their content changes again',
      body: z.strictObject({ digest, answer: z.enum(['accepted', 'discarded']) }),
      result: z.object({ answer: z.enum(['accepted', 'discarded']) }),
      errors: ['conflict'],
    },
    ({ params, body }, deps, context) => decideProposed(connectionOf(params, deps).id, body, deps, context),
  ),
} satisfies Operations;

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

function previewInput<Text extends string | undefined>(
  { travel: _travel, lookups: _lookups, feed: _feed, ...connection }: Connection,
  text: Text,
  { rules, ...inForce }: RulesSnapshot,
): PreviewInput<Text> {
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
  const groups = subject.user?.['groups'] === undefined ? undefined : groupsOf(subject.user);
  const input = { ...previewInput(connection, text, inForce), identity, groups };
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

async function previewEverybody(
  connection: Connection,
  { text: given, proposed: digest, examples, valuesSince }: z.output<typeof previewBody>,
  deps: MappingDeps,
  caller: Caller,
) {
  const current = await currentRules(connection, deps);
  const ownUser = await connection.lookups.readOwnUser();
  const { rules } = deps.store;
  const proposed = digest === undefined ? undefined : await requireProposed(connection.id, digest, deps);
  const text = proposed ? textOf(proposed.mapping) : given;
  const putBackSince =
    valuesSince === undefined
      ? proposed?.putBackSince
      : await findReplacedSince(rules, connection.id, valuesSince);
  // A command has read the collection of now, which is not in force while it is proposed.
  const accepted = proposed?.collection && (await rules.find(connection.id))?.lookups?.scimUserMappings;
  const inForce = accepted ? withAcceptedCollection(current, accepted) : current;
  const input = {
    ...previewInput(connection, text, inForce),
    ...{ ownUser, examples, putBackSince, collection: proposed?.collection },
  };
  const preview = await deps.tasks.run('previewEverybody', input, taskContext(deps, caller));
  if ('faults' in preview) throw faulty(preview.faults);
  const { people, changed, created, pending, outOfScope, fields, findings, names } = preview;
  return {
    ...{ people, changed, created, pending, outOfScope },
    ...{ fields, findings, names, examples: preview.examples },
    isCut: preview.isCut === true,
    needsApproval: needsAdmin(preview),
  };
}

function withAcceptedCollection(
  { lookups, ...snapshot }: RulesSnapshot,
  scimUserMappings: RulesSnapshot['lookups']['scimUserMappings'],
): RulesSnapshot {
  return { ...snapshot, lookups: { ...lookups, scimUserMappings } };
}

function faulty(faults: MappingFault[]): OperationError {
  const told = faults.map(({ path, problem, remedy }) => ({ field: path, message: `${problem}. ${remedy}` }));
  return new OperationError('invalid', 'The mapping has faults. Nothing was applied.', { faults: told });
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
  const isCommand = context.caller?.kind === 'command';
  const change = {
    ...{ mapping, ...version, author: context.caller?.shownName ?? '' },
    source: isCommand ? ('command' as const) : ('page' as const),
  };
  // A server goes on to count after the answer; a command may find none.
  const signal = isCommand ? undefined : AbortSignal.timeout(COUNT_MS);
  const result = await deps.provisioning.applyMapping(connection, change, signal);
  if (result.outcome === 'conflict') throw conflict(result);
  if (result.outcome === 'applied') await planAgain(deps, connection.id);
  const { before, ...outcome } = result;
  context.note({ outcome: outcome.outcome, version: outcome.version, before });
  return outcome;
}

/** The time for which a request waits until the people are counted whom a mapping would change, in milliseconds. */
const COUNT_MS = 4_000;

/** Finds the proposed rules that were shown. Throws 409 if there are others by now, or none. */
async function requireProposed(connection: string, digest: string, { store: { rules } }: MappingDeps) {
  const { proposed } = await rules.findProposals(connection);
  if (proposed?.digest === digest) return proposed;
  const now = proposed ? 'Other rules are proposed by now' : 'No rules are proposed any more';
  throw new OperationError('conflict', `${now}. Nothing was decided: look again.`);
}

/** Carries out the decision of an admin about the proposed rules that were shown. */
async function decideProposed(
  connection: string,
  { digest, answer }: { digest: string; answer: 'accepted' | 'discarded' },
  deps: MappingDeps,
  { note }: Pick<OperationContext, 'note'>,
) {
  note({ digest, answer });
  const proposed = await requireProposed(connection, digest, deps);
  const decider = { rules: deps.store.rules, runtime: { now: deps.now } };
  const isDone =
    answer === 'accepted'
      ? await acceptRules(decider, connection, proposed)
      : await discardRules(decider, connection, proposed);
  if (!isDone)
    throw new OperationError('conflict', 'Somebody else has decided. Nothing was decided now: look again.');
  deps.provisioning.refreshRules();
  return { answer };
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
