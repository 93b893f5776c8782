import type { ConnectionSettings, Settings } from '../config/settings.ts';
import { readGroups, readReferences } from '../provisioning/rules/mapping-effect.ts';
import { defaultMapping, mappingOf } from '../provisioning/rules/mapping-versions.ts';
import type { MappingPreview, PreviewOptions } from '../provisioning/rules/preview-mapping.ts';
import { identityForPreview } from '../provisioning/rules/preview-person.ts';
import { provisioningService } from '../provisioning/service.ts';
import type { TravelAnswer, TravelFailure } from '../provisioning/travel-ports.ts';
import type { ScimResource } from '../schema/resource.ts';
import type { OpenConnection } from '../server/open-connection.ts';
import { ensureConnection } from '../store/connections.ts';
import { readCounter } from '../store/lists/list-counters.ts';
import { provisioningStore } from '../store/provisioning-store.ts';
import type { RulesInForce, RulesStore } from '../store/queues/rules-in-force.ts';
import type { Database } from '../store/sql/database.ts';
import { withDatabaseAt, withDatabaseIfAny } from '../store/sql/open-database.ts';
import type { Mapping } from '../translator/mapping/mapping-file.ts';
import { compileRules, type Rules } from '../translator/rules.ts';
import { toTravel } from '../translator/to-travel.ts';
import type { Lookups, Snapshot } from '../translator/translation.ts';
import { dayOf } from '../translator/values/dates.ts';
import { type ConnectionDeps, silentRuntime, withConnection } from './with-connection.ts';

/**
 * Reads the lookups (names and ids that mappings use) of a connection from its travel API. `database` is the database of
 * the settings, if the caller has opened it: the embedded travel service needs it.
 */
export function readLookups(
  settings: Settings,
  connection: ConnectionSettings,
  database?: Database,
): Promise<TravelAnswer<Lookups>> {
  return withConnection({ settings, connection, database }, ({ connection: { lookups } }) =>
    lookups.current(),
  );
}

/** The findings of translated people: how many people were translated, and the number of findings by code. */
export interface SampleFindings {
  people: number;
  /** All people whom an identity provider has sent. */
  total: number;
  findings: Map<string, number>;
}

/**
 * Translates up to `limit` people of a connection with its mapping, in the order of their creation. Returns undefined if the travel API cannot be read.
 */
export async function translateSample(
  { settings, database, connection }: ConnectionDeps & { database: Database },
  limit: number,
): Promise<SampleFindings | undefined> {
  const lookups = await readLookups(settings, connection, database);
  if (lookups.kind !== 'ok') return undefined;
  const mapping = await readConnectionMapping(settings, connection, database);
  const rules = compileRules(mapping, lookups.value.scimUserMappings);
  if (!database.scopes.has(connection.id)) return { people: 0, total: 0, findings: new Map() };
  const deps = provisioningStore(database);
  const total = (await readCounter(database.db, database.scopeOf(connection.id), 'claimed')).count;
  const people = await findClaimed(deps, connection.id, Math.min(limit, total));
  const found = new Map<string, number>();
  for (const identity of people) {
    const managers = await readReferences(deps, identity, { rules, ...connection });
    const groups = await readGroups(deps, identity, { rules, ...connection });
    const { lastModified, origin } = identity;
    const stored = { countedParts: origin.countedParts, statedOn: dayOf(lastModified) };
    const snapshot = { lookups: lookups.value, references: managers, ...groups, ...stored };
    for (const { code } of toTravel(rules, identity.desired, snapshot).findings)
      found.set(code, (found.get(code) ?? 0) + 1);
  }
  return { people: people.length, total, findings: found };
}

/** The number of identities that one page has, and of pages that are read: imported travelers may be before those whom an IdP has sent. */
const PAGE = 500;
const MAX_PAGES = 20;

async function findClaimed(
  { identities }: ReturnType<typeof provisioningStore>,
  connection: string,
  limit: number,
) {
  const found: Awaited<ReturnType<typeof identities.findPage>>['identities'] = [];
  for (let page = 0; page < MAX_PAGES && found.length < limit; page += 1) {
    const read = await identities.findPage(connection, page * PAGE, PAGE);
    found.push(...read.identities.filter(({ claimed }) => claimed));
  }
  return found.slice(0, limit);
}

/**
 * Resolves the managers that a user's attributes name, from the stored identities of the connection, and reads the groups of the stored
 * user of that name.
 */
export async function readRelations(
  settings: Settings,
  connection: ConnectionSettings,
  { rules, user }: { rules: Rules; user: ScimResource },
): Promise<Pick<Snapshot, 'references' | 'groups' | 'namesUnknownGroup'>> {
  const found = await withDatabaseIfAny(settings, async (database) => {
    // The server has not been started with this connection.
    if (!database.scopes.has(connection.id)) return undefined;
    const deps = provisioningStore(database);
    const identity = await identityForPreview(deps, { connection, user }, silentRuntime());
    const references = await readReferences(deps, identity, { rules, ...connection });
    return { references, ...(await readGroups(deps, identity, { rules, ...connection })) };
  });
  return found ?? { references: new Map() };
}

/** Returns those of the names that no group of the connection has; none if the server has never been started with it. */
export async function findUnknownGroupNames(
  settings: Settings,
  connection: ConnectionSettings,
  { names, database }: { names: string[]; database?: Database | undefined },
): Promise<string[]> {
  const find = async (opened: Database) =>
    opened.scopes.has(connection.id)
      ? provisioningStore(opened).memberships.findUnknownNames(connection.id, names)
      : undefined;
  return (database ? await find(database) : await withDatabaseIfAny(settings, find)) ?? [];
}

/**
 * Returns the mapping file of a connection; if the settings name none, the mapping in force, or the default rules if the
 * server has never been started.
 */
export async function readConnectionMapping(
  settings: Settings,
  connection: ConnectionSettings,
  database?: Database,
): Promise<Mapping> {
  if (connection.mapping) return connection.mapping;
  const find = async (open: Database) => {
    if (!open.scopes.has(connection.id)) return defaultMapping;
    const inForce = await provisioningStore(open).rules.find(connection.id);
    return (inForce && mappingOf(inForce)) ?? defaultMapping;
  };
  if (database) return find(database);
  return (await withDatabaseIfAny(settings, find)) ?? defaultMapping;
}

/**
 * Computes what another mapping would change for the people of a connection, compared with the mapping file of the
 * settings; if they name none, with the mapping in force. Nothing is sent or stored.
 */
export function previewMapping(
  settings: Settings,
  connection: ConnectionSettings,
  options: PreviewOptions,
): Promise<MappingPreview | TravelFailure> {
  return withDatabaseAt(settings, async (database) => {
    // A connection that exists stays in its account, which a running server uses.
    if (!database.scopes.has(connection.id)) await ensureConnection(database, connection, Date.now());
    const inForce = await provisioningStore(database).rules.find(connection.id);
    const run = ({ connection: one }: OpenConnection) => {
      const { writeBudgetMs } = settings;
      const store = provisioningStore(database);
      return provisioningService({
        store: { ...store, rules: temporaryRules(inForce) },
        connections: [one],
        runtime: silentRuntime(),
        writeBudgetMs,
      }).mappingPreviewer.run(one, options);
    };
    return withConnection({ settings, connection, database }, run);
  });
}

/** The preview of a mapping must not put it in force. */
function temporaryRules(stored: RulesInForce | undefined): RulesStore {
  let inForce = stored;
  return {
    findHead: async () => inForce && { ...inForce, fileAgeMs: 0 },
    find: async () => inForce,
    findFollowed: async () => undefined,
    replace: async (_connection, next) => {
      inForce = next;
      return true;
    },
    wasInForce: async () => false,
    listMappings: async () => [],
    findMappingNumber: async () => undefined,
    recordFile: async () => {},
    forgetFiles: async () => {},
  };
}
