import { createHash } from 'node:crypto';
import { checkNames, type NameFault } from '../translator/check-names.ts';
import { compileRules, type Rules } from '../translator/rules.ts';
import { type Lookups, noLookups } from '../translator/translation.ts';
import { canonicalJson } from '../translator/values.ts';
import type { Connection } from './connection.ts';
import type { Log } from './runtime-ports.ts';
import type { TravelFailure } from './travel-ports.ts';

/** The rules and lookups with which the identities of a connection are translated at one moment. */
export interface RulesSnapshot {
  rules: Rules;
  lookups: Lookups;
  /**
   * A version that changes with the rules and with any lookup. Under a new version, values that were refused or not
   * found are tried again.
   */
  version: string;
}

/** The rules snapshots of the connections. */
export interface RulesSnapshots {
  /** Returns the recent snapshot; a failure only if the lookups were never read. */
  current(connection: Connection): Promise<RulesSnapshot | TravelFailure>;
  /** Reads the lookups again because a value is missing from them, and returns the new snapshot. */
  refresh(connection: Connection): Promise<RulesSnapshot | TravelFailure>;
  /**
   * Returns the last snapshot without a call to the travel API; before the first reading, a snapshot of the mapping
   * file alone.
   */
  lastKnown(connection: Connection): RulesSnapshot;
  /** The number of faulty places in each connection's mapping, as of its last compilation. */
  mappingFaults(): { connection: string; count: number }[];
}

/**
 * Creates the snapshots. Rules are compiled once for each reading of the lookups, and each fault of a mapping is logged
 * once.
 */
export function rulesSnapshots(log?: Pick<Log, 'info' | 'warn'>): RulesSnapshots {
  const last = new Map<string, { lookups: Lookups; snapshot: RulesSnapshot }>();
  const faults = new Map<string, NameFault[]>();
  const compile = (connection: Connection, lookups: Lookups): RulesSnapshot => {
    const known = last.get(connection.id);
    if (known?.lookups === lookups) return known.snapshot;
    const snapshot = toRulesSnapshot(connection, lookups);
    last.set(connection.id, { lookups, snapshot });
    const before = faults.get(connection.id) ?? [];
    const now = checkNames(snapshot.rules, snapshot.lookups);
    faults.set(connection.id, now);
    logChanges(connection.id, { before, now }, log);
    return snapshot;
  };
  return {
    current: async (connection) => {
      const answer = await connection.lookups.current();
      return answer.kind === 'ok' ? compile(connection, answer.value) : answer;
    },
    refresh: async (connection) => {
      const answer = await connection.lookups.refresh();
      return answer.kind === 'ok' ? compile(connection, answer.value) : answer;
    },
    lastKnown: (connection) => last.get(connection.id)?.snapshot ?? toRulesSnapshot(connection, noLookups),
    mappingFaults: () => [...faults].map(([connection, { length }]) => ({ connection, count: length })),
  };
}

function logChanges(
  connection: string,
  { before, now }: Record<'before' | 'now', NameFault[]>,
  log: Pick<Log, 'info' | 'warn'> | undefined,
): void {
  const isIn = (faults: NameFault[]) => (fault: NameFault) =>
    faults.some(({ path, problem }) => path === fault.path && problem === fault.problem);
  for (const fault of now.filter((item) => !isIn(before)(item))) {
    const { path, problem, remedy } = fault;
    log?.warn(
      { connection, path, problem, remedy },
      'the mapping has a fault; affected fields keep their last value',
    );
  }
  for (const { path, problem } of before.filter((item) => !isIn(now)(item)))
    log?.info({ connection, path, problem }, 'a fault of the mapping is fixed');
}

/** Creates the snapshot of a mapping and lookups. The order of the lookups does not change its version. */
export function toRulesSnapshot(connection: Pick<Connection, 'mapping'>, unsorted: Lookups): RulesSnapshot {
  const lookups = withSortedItems(unsorted);
  const rules = compileRules(connection.mapping, lookups.scimUserMappings);
  const content = canonicalJson(JSON.parse(JSON.stringify(lookups)));
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { rules, lookups, version: `${rules.version}.${digest}` };
}

function withSortedItems(lookups: Lookups): Lookups {
  const { customFields, costCenters, billingProfiles, travelPolicies, scimUserMappings } = lookups;
  const withOptions = customFields.map((field) => ({ ...field, options: sortByContent(field.options) }));
  return {
    customFields: sortByContent(withOptions),
    costCenters: sortByContent(costCenters),
    billingProfiles: sortByContent(billingProfiles),
    travelPolicies: sortByContent(travelPolicies),
    scimUserMappings: sortByContent(scimUserMappings),
  };
}

/** Items are sorted by content because some have no id. */
function sortByContent<T extends object>(items: T[]): T[] {
  const keyed = items.map((item) => ({ item, key: canonicalJson(JSON.parse(JSON.stringify(item))) }));
  return keyed.sort((item, other) => (item.key < other.key ? -1 : 1)).map(({ item }) => item);
}
