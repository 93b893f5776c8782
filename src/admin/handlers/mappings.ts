import { findNameFaults } from '../../provisioning/check-mapping.ts';
import type { Connection } from '../../provisioning/connection.ts';
import {
  compareMappings,
  countRules,
  defaultMapping,
  findVersion,
  listVersions,
  type MappingDifference,
} from '../../provisioning/mapping-versions.ts';
import type { People } from '../../provisioning/people.ts';
import { needsApproval } from '../../provisioning/rules-change.ts';
import type { MappingVersion, RulesStore } from '../../provisioning/rules-ports.ts';
import type { RulesSnapshot } from '../../provisioning/rules-snapshot.ts';
import type { ProvisioningService } from '../../provisioning/service.ts';
import { describeTravelFailure } from '../../provisioning/travel-ports.ts';
import { attributePaths } from '../../schema/attribute-paths.ts';
import { userType } from '../../schema/resource-types.ts';
import { findUnknownExtensionNames } from '../../translator/extension-names.ts';
import type { MappingFault } from '../../translator/mapping-faults.ts';
import { type Mapping, parseMapping } from '../../translator/mapping-file.ts';
import type { mappingsContract } from '../contract/mappings.ts';
import type { Handlers } from '../contract/operation.ts';
import { toTime } from '../contract/schemas.ts';
import { AdminError } from '../errors.ts';
import type { AdminContext } from '../router.ts';
import { type PersonPreviewDeps, previewPerson } from './preview-person.ts';

/** A connection, and the mapping file that the settings name for it. */
export interface MappedConnection {
  connection: Connection;
  mappingFile: string | undefined;
}

/** Dependencies of the operations on mappings. */
export interface MappingDeps extends PersonPreviewDeps {
  connections(): MappedConnection[];
  people: Pick<People, 'findExample'>;
  rules: Pick<RulesStore, 'listMappings'>;
  provisioning: Pick<ProvisioningService, 'mappingPreviewer' | 'applyMapping' | 'currentRules'>;
  /** Parses JSON, or tells what is wrong with it and where. */
  parseJson(text: string): { json: unknown } | Omit<MappingFault, 'path'>;
}

/** Handles the mapping of each connection: reading, checking, previewing and changing it. */
export function mappingHandlers(deps: MappingDeps): Handlers<typeof mappingsContract, AdminContext> {
  const { rules } = deps;
  return {
    listMappings: async () => ({ mappings: await Promise.all(deps.connections().map(describe(deps))) }),
    readMapping: async ({ params }) => {
      const version = await findVersion(rules, connectionOf(params, deps).id);
      return { version: version && toVersion(version), text: textOf(version?.mapping ?? defaultMapping) };
    },
    listMappingNames: async ({ params }) => namesOf(await currentRules(connectionOf(params, deps), deps)),
    findExamplePerson: async ({ params }) => ({
      id: await deps.people.findExample(connectionOf(params, deps).id),
    }),
    checkMapping: ({ params, body }) => checkText(connectionOf(params, deps), body.text, deps),
    previewPerson: async ({ params, body }) => {
      const connection = connectionOf(params, deps);
      const mapping = requireMapping(body.text, deps);
      const inForce = await currentRules(connection, deps);
      return previewPerson({ connection, mapping, inForce, ...body }, deps);
    },
    previewMapping: ({ params, body }, context) =>
      previewEverybody(connectionOf(params, deps), body, { ...deps, response: context.response }),
    applyMapping: ({ params, body }, context) => {
      const mapping = requireMapping(body.text, deps);
      return applyToConnection(
        connectionOf(params, deps),
        { mapping, expected: body.generation },
        { ...deps, context },
      );
    },
    listMappingVersions: async ({ params, query }) => ({
      versions: (await listVersions(rules, connectionOf(params, deps).id, query.limit)).map(toVersion),
    }),
    readMappingVersion: async ({ params }) => {
      const versions = await listVersions(rules, connectionOf(params, deps).id);
      const index = versions.findIndex(({ generation }) => String(generation) === params.version);
      const [version, before] = [versions[index], versions[index + 1]];
      if (!version) throw noSuchVersion(params.version);
      const difference = compareMappings(before?.mapping ?? defaultMapping, version.mapping);
      return { version: toVersion(version), text: textOf(version.mapping), difference };
    },
    restoreMappingVersion: async ({ params, body }, context) => {
      const connection = connectionOf(params, deps);
      const version = await findVersion(rules, connection.id, body.version);
      if (!version) throw noSuchVersion(body.version);
      context.note({ version: body.version });
      const mapping = requireMapping(textOf(version.mapping), deps);
      return applyToConnection(connection, { mapping, expected: body.generation }, { ...deps, context });
    },
  };
}

function connectionOf(params: { connection: string }, { connections }: MappingDeps): Connection {
  const found = connections().find(({ connection }) => connection.id === params.connection);
  if (!found) throw new AdminError('notFound', `There is no connection ${params.connection}.`);
  return found.connection;
}

function noSuchVersion(version: string | number): AdminError {
  return new AdminError('notFound', `No mapping came into force with generation ${version}.`);
}

function describe({ rules }: MappingDeps) {
  return async ({ connection, mappingFile }: MappedConnection) => {
    const version = await findVersion(rules, connection.id);
    return { connection: connection.id, version: version && toVersion(version), file: mappingFile };
  };
}

function toVersion(version: MappingVersion) {
  const { generation, appliedAt, source, author } = version;
  return { generation, appliedAt: toTime(appliedAt), source, author, rules: countRules(version) };
}

function textOf(mapping: unknown): string {
  return `${JSON.stringify(mapping, null, 2)}\n`;
}

/** Throws 503 with the reason if the lookups were never read. */
async function currentRules(connection: Connection, { provisioning }: MappingDeps): Promise<RulesSnapshot> {
  const current = await provisioning.currentRules(connection);
  if (!('kind' in current)) return current;
  throw new AdminError('unavailable', `The travel API cannot be read: ${describeTravelFailure(current)}.`);
}

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

function parseText(
  text: string,
  { parseJson }: Pick<MappingDeps, 'parseJson'>,
): { mapping: Mapping } | { faults: MappingFault[] } {
  const parsed = parseJson(text);
  return 'json' in parsed ? parseMapping(parsed.json) : { faults: [{ path: '$', ...parsed }] };
}

/** Throws 422 with every fault of the mapping. */
function requireMapping(text: string, deps: Pick<MappingDeps, 'parseJson'>): Mapping {
  const parsed = parseText(text, deps);
  if ('mapping' in parsed) return parsed.mapping;
  throw faulty(parsed.faults);
}

function faulty(faults: MappingFault[]): AdminError {
  const told = faults.map(({ path, problem, remedy }) => ({ field: path, message: `${problem}. ${remedy}` }));
  return new AdminError('invalid', 'The mapping has faults. Nothing was applied.', { faults: told });
}

async function checkText(connection: Connection, text: string, deps: MappingDeps) {
  const parsed = parseText(text, deps);
  if ('faults' in parsed) return { faults: parsed.faults, warnings: [] };
  const { mapping } = parsed;
  const { faults, unchecked } = await checkNamesOf(connection, mapping, deps);
  const ownFaults = faults.filter(({ origin }) => origin === 'file');
  return {
    faults: ownFaults.map(({ path, problem, remedy }) => ({ path, problem, remedy })),
    warnings: findUnknownExtensionNames(mapping),
    unchecked,
  };
}

function checkNamesOf(connection: Connection, mapping: Mapping, { provisioning }: MappingDeps) {
  return findNameFaults(mapping, async () => {
    const current = await provisioning.currentRules(connection);
    if (!('kind' in current)) return current;
    return { unchecked: `The travel API cannot be read: ${describeTravelFailure(current)}.` };
  });
}

/** The longest time that a preview of everybody takes, in milliseconds. */
const PREVIEW_MS = 5_000;

/** The preview ends early if the time is over, or if the caller has closed the connection. */
async function previewEverybody(
  connection: Connection,
  { text, examples }: { text: string; examples: number },
  deps: MappingDeps & Pick<AdminContext, 'response'>,
) {
  const mapping = requireMapping(text, deps);
  const until = deps.runtime.now() + PREVIEW_MS;
  const isOver = () => deps.response.closed || deps.runtime.now() >= until;
  const preview = await deps.provisioning.mappingPreviewer.run(connection, { mapping, examples, isOver });
  if ('kind' in preview)
    throw new AdminError('unavailable', `The travel API cannot be read: ${describeTravelFailure(preview)}.`);
  const { people, changed, created, pending, fields, findings, names } = preview;
  return {
    ...{ people, changed, created, pending, fields, findings, names, examples: preview.examples },
    isCut: preview.isCut === true,
    needsApproval: needsApproval(preview),
  };
}

async function applyToConnection(
  connection: Connection,
  { mapping, expected }: { mapping: Mapping; expected: number },
  { context: { caller, note }, ...deps }: MappingDeps & { context: AdminContext },
) {
  const { faults } = await checkNamesOf(connection, mapping, deps);
  const ownFaults = faults.filter(({ origin }) => origin === 'file');
  if (ownFaults.length > 0) throw faulty(ownFaults);
  const result = await deps.provisioning.applyMapping({
    ...{ connection: connection.id, mapping, expected },
    author: caller?.shownName ?? '',
    now: deps.runtime.wallClock(),
  });
  if (result.outcome === 'conflict') throw conflict(result);
  note({ generation: result.generation, before: expected });
  return result;
}

/** The difference is told like faults: each rule and member that the other admin has changed. */
function conflict({
  version,
  difference,
}: {
  version: MappingVersion;
  difference: MappingDifference;
}): AdminError {
  const { author, source, generation, appliedAt } = version;
  const by = author ?? (source === 'file' ? 'A mapping file' : 'Somebody');
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
  const message = `${by} has put another mapping in force at ${at} (generation ${generation}). Nothing was applied: add that change to yours and apply again.`;
  return new AdminError('conflict', message, { faults });
}
