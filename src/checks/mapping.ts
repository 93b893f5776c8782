import type { ConnectionSettings, Settings } from '../config/settings.ts';
import type { Lookups } from '../model/translation.ts';
import type { TravelAnswer } from '../model/travel-ports.ts';
import { readGroups, readReferences } from '../provisioning/mapping-changes/mapping-effect.ts';
import { defaultMapping, mappingOf } from '../provisioning/rules/mapping-versions.ts';
import { type ProvisioningService, provisioningService } from '../provisioning/service.ts';
import type { OpenConnection } from '../server/open-connection.ts';
import { readCounter } from '../store/lists/list-counters.ts';
import { provisioningStore } from '../store/provisioning-store.ts';
import type { ProposalStore } from '../store/queues/proposed-rules.ts';
import type { RulesInForce, RulesStore } from '../store/queues/rules-in-force.ts';
import type { Database } from '../store/sql/database.ts';
import { withDatabaseIfAny } from '../store/sql/open-database.ts';
import type { Mapping } from '../translator/mapping/mapping-file.ts';
import { compileRules } from '../translator/rules/rules.ts';
import { toTravel } from '../translator/to-travel.ts';
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

/** A connection whose rules a command reads, as a server does. */
interface ReadRules {
  opened: OpenConnection;
  currentRules: ProvisioningService['currentRules'];
}

/** Opens a connection to compute with its rules. None are put in force: a mapping file of the settings counts in this process only. */
export async function withRules<T>(
  { settings, connection, database }: ConnectionDeps & { database: Database },
  work: (rules: ReadRules) => Promise<T>,
): Promise<T> {
  const store = provisioningStore(database);
  const inForce = await store.rules.find(connection.id);
  return withConnection({ settings, connection, database }, (opened) => {
    const { currentRules } = provisioningService({
      store: { ...store, rules: temporaryRules(inForce) },
      connections: [opened.connection],
      runtime: silentRuntime(),
      writeBudgetMs: settings.writeBudgetMs,
    });
    return work({ opened, currentRules });
  });
}

/** Rules that are put in force in this process only. */
function temporaryRules(stored: RulesInForce | undefined): RulesStore & ProposalStore {
  let inForce = stored;
  return {
    findHead: async () => inForce && { ...inForce, fileAgeMs: 0 },
    find: async () => inForce,
    replace: async (_connection, next) => {
      inForce = next;
      return true;
    },
    wasInForce: async () => false,
    listMappings: async () => [],
    findMappingNumber: async () => undefined,
    recordFile: async () => {},
    forgetFiles: async () => {},
    // Nothing is proposed, because no rules in force change anybody in this process.
    findProposals: async () => ({
      proposed: undefined,
      discardedMapping: undefined,
      discardedCollection: undefined,
    }),
    propose: async () => {},
    letWait: async () => false,
    accept: async () => false,
    discard: async () => false,
    countFollowers: async () => 0,
    countTranslatedEarlier: async () => 0,
  };
}
