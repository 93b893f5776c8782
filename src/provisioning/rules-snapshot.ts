import { createHash } from 'node:crypto';
import { checkNames, type NameFault } from '../translator/check-names.ts';
import { compileRules, type Rules } from '../translator/rules.ts';
import { type Lookups, noLookups } from '../translator/translation.ts';
import { canonicalJson } from '../translator/values.ts';
import type { Connection } from './connection.ts';
import type { Log } from './runtime-ports.ts';
import type { TravelFailure } from './travel-ports.ts';

/** What every translation of a connection rests on at one moment. */
export interface RulesSnapshot {
  rules: Rules;
  lookups: Lookups;
  /** Changes when the rules or anything in the lookups does: what was refused or not found is then worth another try. */
  version: string;
}

/** The bases of the connections. */
export interface RulesSnapshots {
  /** As read not long ago; a failure only when the travel API was never readable. */
  current(connection: Connection): Promise<RulesSnapshot | TravelFailure>;
  /** Read anew, because something was not found in the present one. */
  refresh(connection: Connection): Promise<RulesSnapshot | TravelFailure>;
  /** What is known without asking anybody, down to the mapping file alone. */
  lastKnown(connection: Connection): RulesSnapshot;
  /** How many places of each connection's mapping are at fault, as far as it was compiled. */
  mappingFaults(): { connection: string; count: number }[];
}

/** Compiles the rules once for each state of the lookups, and logs each fault of a mapping once. */
export function rulesSnapshots(log?: Pick<Log, 'info' | 'warn'>): RulesSnapshots {
  const last = new Map<string, { read: Lookups; basis: RulesSnapshot }>();
  const faults = new Map<string, NameFault[]>();
  const compiled = (connection: Connection, read: Lookups): RulesSnapshot => {
    const known = last.get(connection.id);
    if (known?.read === read) return known.basis;
    const basis = toRulesSnapshot(connection, read);
    last.set(connection.id, { read, basis });
    const before = faults.get(connection.id) ?? [];
    const now = checkNames(basis.rules, basis.lookups);
    faults.set(connection.id, now);
    logChanges(connection.id, { before, now }, log);
    return basis;
  };
  return {
    current: async (connection) => {
      const answer = await connection.lookups.current();
      return answer.kind === 'ok' ? compiled(connection, answer.value) : answer;
    },
    refresh: async (connection) => {
      const answer = await connection.lookups.refresh();
      return answer.kind === 'ok' ? compiled(connection, answer.value) : answer;
    },
    lastKnown: (connection) => last.get(connection.id)?.basis ?? toRulesSnapshot(connection, noLookups),
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
  for (const fault of now.filter((one) => !isIn(before)(one))) {
    const { path, problem, remedy } = fault;
    log?.warn(
      { connection, path, problem, remedy },
      'the mapping is at fault; what it concerns stays as it is',
    );
  }
  for (const { path, problem } of before.filter((one) => !isIn(now)(one)))
    log?.info({ connection, path, problem }, 'a fault of the mapping is gone');
}

/** What translations of a connection with this mapping rest on while the travel API says this, in whatever order. */
export function toRulesSnapshot(connection: Pick<Connection, 'mapping'>, read: Lookups): RulesSnapshot {
  const lookups = inOrder(read);
  const rules = compileRules(connection.mapping, lookups.scimUserMappings);
  const content = canonicalJson(JSON.parse(JSON.stringify(lookups)));
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { rules, lookups, version: `${rules.version}.${digest}` };
}

function inOrder(lookups: Lookups): Lookups {
  const { customFields, costCenters, billingProfiles, travelPolicies, scimUserMappings } = lookups;
  const withOptions = customFields.map((field) => ({ ...field, options: sorted(field.options) }));
  return {
    customFields: sorted(withOptions),
    costCenters: sorted(costCenters),
    billingProfiles: sorted(billingProfiles),
    travelPolicies: sorted(travelPolicies),
    scimUserMappings: sorted(scimUserMappings),
  };
}

/** By content, as some rows have no id. */
function sorted<T extends object>(items: T[]): T[] {
  const keyed = items.map((item) => ({ item, key: canonicalJson(JSON.parse(JSON.stringify(item))) }));
  return keyed.sort((one, other) => (one.key < other.key ? -1 : 1)).map(({ item }) => item);
}
