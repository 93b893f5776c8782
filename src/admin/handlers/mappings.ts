import type { Connection } from '../../provisioning/connection.ts';
import type { Identity } from '../../provisioning/identity.ts';
import {
  authorOf,
  compareMappings,
  countRules,
  defaultMapping,
  findReplacedSince,
  findVersion,
  listVersions,
  type MappingDifference,
} from '../../provisioning/rules/mapping-versions.ts';
import { identityForPreview } from '../../provisioning/rules/preview-person.ts';
import { needsApproval } from '../../provisioning/rules/rules-change.ts';
import type { RulesSnapshot } from '../../provisioning/rules/rules-snapshot.ts';
import { describeTravelFailure } from '../../provisioning/travel-ports.ts';
import { attributePaths } from '../../schema/attribute-paths.ts';
import { normalize } from '../../schema/normalize.ts';
import { type JsonObject, SchemaFault } from '../../schema/resource.ts';
import { userType } from '../../schema/resource-types.ts';
import type { MappingVersion } from '../../store/queues/rules-in-force.ts';
import { otherRules } from '../../translator/mapping/default-rules.ts';
import type { MappingFault } from '../../translator/mapping/mapping-faults.ts';
import type { mappingsContract } from '../contract/mappings.ts';
import type { HandlerRequest, Handlers } from '../contract/operation.ts';
import { toTime } from '../contract/schemas.ts';
import { type AdminDeps, findConnection, type ServedConnection } from '../deps.ts';
import { AdminError } from '../errors.ts';
import type {
  CheckedMapping,
  KnownNames,
  PreviewInput,
  StoredReads,
  TaskContext,
} from '../mapping-thread/tasks.ts';
import type { AdminContext } from '../router.ts';

/** Handles the mapping of each connection: reading, checking, previewing and changing it. */
export function mappingHandlers(deps: AdminDeps): Handlers<typeof mappingsContract, AdminContext> {
  const { rules } = deps.store;
  const connectionOf = ({ connection }: { connection: string }) =>
    findConnection(deps, connection).connection;
  return {
    listMappings: async () => ({ mappings: await Promise.all(deps.connections.map(describe(deps))) }),
    readMapping: async ({ params }) => {
      const version = await findVersion(rules, connectionOf(params).id);
      return { version: version && toVersion(version), text: textOf(version?.mapping ?? defaultMapping) };
    },
    listOtherRules: async ({ params }) => ({
      rules: otherRules((await currentRules(connectionOf(params), deps)).rules),
    }),
    listMappingNames: async ({ params }) => namesOf(await currentRules(connectionOf(params), deps)),
    findGroupNames: async ({ params, query }) => {
      const { id } = connectionOf(params);
      return { names: await deps.store.memberships.findNames(id, query.beginning, MAX_GROUP_NAMES) };
    },
    findExamplePerson: async ({ params }) => ({
      id: await deps.store.people.findExample(connectionOf(params).id),
    }),
    checkMapping: async ({ params, body }, context) => {
      const { faults, warnings, unchecked } = await check(connectionOf(params), body.text, deps, context);
      return { faults, warnings, unchecked };
    },
    previewPerson: ({ params, body }, context) => previewOnePerson(connectionOf(params), body, deps, context),
    previewMapping: ({ params, body }, context) =>
      previewEverybody(connectionOf(params), body, deps, context),
    applyMapping: ({ params, body }, context) =>
      applyText(connectionOf(params), { text: body.text, expected: body.generation }, deps, context),
    readMappingProgress: ({ params }) => readProgress(connectionOf(params), deps),
    listMappingVersions: async ({ params, query }) => ({
      versions: (await listVersions(rules, connectionOf(params).id, query.limit)).map(toVersion),
    }),
    readMappingVersion: ({ params }) => readVersion(connectionOf(params), params.version, deps),
    restoreMappingVersion: ({ params, body }, context) =>
      restoreVersion(connectionOf(params), body, deps, context),
  };
}

/** The number of people up to which those who follow later are counted. */
const MAX_LEFT = 10_000;

/** Reads how far people follow the rules in force. */
async function readProgress({ id }: Connection, { store: { rules, holds }, runtime }: AdminDeps) {
  const generation = (await rules.findHead(id, runtime.now()))?.generation ?? 0;
  const left = await holds.countTranslatedEarlier(id, generation, MAX_LEFT);
  if (left === 0) return { state: 'done' as const, left };
  const change = await holds.findHeldRules(id);
  if (change?.generation !== generation || change.answer === 'approved')
    return { state: 'running' as const, left };
  return { state: change.answer ?? ('held' as const), left, affected: change.people };
}

/** Reads a mapping of the history, and what it has changed. */
async function readVersion({ id }: Connection, number: string, { store }: AdminDeps) {
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
  {
    version: number,
    generation: expected,
    values,
  }: HandlerRequest<(typeof mappingsContract)['restoreMappingVersion']>['body'],
  deps: AdminDeps,
  context: AdminContext,
) {
  const { rules } = deps.store;
  const version = await findVersion(rules, connection.id, number);
  if (!version) throw noSuchVersion(number);
  context.note({ restored: number, values });
  const putBackSince = values ? await findReplacedSince(rules, connection.id, number) : undefined;
  return applyText(connection, { text: textOf(version.mapping), expected, putBackSince }, deps, context);
}

function noSuchVersion(version: string | number): AdminError {
  return new AdminError('notFound', `The mapping has no version ${version}.`);
}

function describe({ store }: AdminDeps) {
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
  { provisioning }: AdminDeps,
): Promise<RulesSnapshot> {
  const current = await provisioning.currentRules(connection);
  if (!('kind' in current)) return current;
  throw new AdminError('unavailable', `The travel API cannot be read: ${describeTravelFailure(current)}.`);
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

function faulty(faults: MappingFault[]): AdminError {
  const told = faults.map(({ path, problem, remedy }) => ({ field: path, message: `${problem}. ${remedy}` }));
  return new AdminError('invalid', 'The mapping has faults. Nothing was applied.', { faults: told });
}

type Caller = Pick<AdminContext, 'caller' | 'response'>;

/** The signal ends a task whose caller has closed the connection. */
function taskContext({ store }: AdminDeps, { caller, response }: Caller): TaskContext {
  const { identities, references, memberships } = store;
  const reads: StoredReads = {
    ...identities,
    findReferenceRows: references.findRows,
    findMemberships: memberships.findOf,
    findUnknownGroupNames: memberships.findUnknownNames,
  };
  const closed = new AbortController();
  if (response.closed) closed.abort();
  else response.once('close', () => closed.abort());
  return { caller: caller?.id ?? '', reads, signal: closed.signal };
}

/** Checks a text. The travel API is asked only for a mapping with names. */
async function check(
  connection: Connection,
  text: string,
  deps: AdminDeps,
  caller: Caller,
): Promise<CheckedMapping> {
  const context = taskContext(deps, caller);
  const input = { text, connection: connection.id };
  const checked = await deps.tasks.run('check', input, context);
  if (!checked.needsNames) return checked;
  return deps.tasks.run('check', { ...input, names: await knownNames(connection, deps) }, context);
}

async function knownNames(connection: Connection, { provisioning }: AdminDeps): Promise<KnownNames> {
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

type PreviewedSubject = HandlerRequest<(typeof mappingsContract)['previewPerson']>['body'];

async function previewOnePerson(
  connection: Connection,
  { text, ...subject }: PreviewedSubject,
  deps: AdminDeps,
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
  { store: { identities }, runtime }: AdminDeps,
): Promise<Identity> {
  if (user !== undefined && person === undefined)
    return identityForPreview({ identities }, { connection, user: readUser(user) }, runtime);
  if (person === undefined || user !== undefined)
    throw new AdminError('invalid', 'Give either the id of a person or a SCIM user.', {
      faults: [{ field: 'person', message: 'is needed, unless a user is given' }],
    });
  const found = await identities.findById(connection.id, person);
  if (!found)
    throw new AdminError('notFound', `There is no person ${person} in the connection ${connection.id}.`);
  return found;
}

function readUser(body: JsonObject): JsonObject {
  try {
    return normalize(userType, body).resource;
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    throw new AdminError('invalid', error.message, { faults: [{ field: 'user', message: error.message }] });
  }
}

/** The longest time that a preview of everybody takes, in milliseconds. It ends early if the time is over. */
const PREVIEW_MS = 5_000;

async function previewEverybody(
  connection: Connection,
  { text, examples, valuesSince }: HandlerRequest<(typeof mappingsContract)['previewMapping']>['body'],
  deps: AdminDeps,
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
  deps: AdminDeps,
  context: AdminContext,
) {
  const { mapping, faults } = await check(connection, text, deps, context);
  if (!mapping || faults.length > 0) throw faulty(faults);
  const result = await deps.provisioning.applyMapping({
    ...{ connection: connection.id, mapping, ...version },
    source: 'page',
    author: context.caller?.shownName ?? '',
    now: deps.runtime.wallClock(),
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
}): AdminError {
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
  return new AdminError('conflict', message, { faults });
}
