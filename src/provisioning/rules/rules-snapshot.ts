import { createHash } from 'node:crypto';
import type { Lookups } from '../../model/translation.ts';
import type { RulesInForce } from '../../store/queues/rules-in-force.ts';
import type { Mapping } from '../../translator/mapping/mapping-file.ts';
import { compileRules, EDITION, type Rules } from '../../translator/rules/rules.ts';
import { compileScope } from '../../translator/rules/scope.ts';
import { canonicalJson } from '../../translator/values/values.ts';
import { digestOf, mappingOf } from './mapping-versions.ts';

/** The rules and lookups with which the identities of a connection are translated at one moment. */
export interface RulesSnapshot {
  rules: Rules;
  lookups: Lookups;
  /**
   * A version that changes with the rules and with any lookup. Under a new version, values that were refused or not
   * found are tried again.
   */
  version: string;
  /**
   * Raised with each change of the rules in force of the connection, the same for all replicas; 0 for rules that are
   * not in force.
   */
  generation: number;
  /** Set if an admin has asked for the values that later mappings have replaced: those replaced since this generation are put back. */
  putBackSince?: number | undefined;
}

/** Returns undefined if the lookups were never read, or the mapping belongs to another version of Jetbridge. */
export function compileSnapshot(inForce: RulesInForce): RulesSnapshot | undefined {
  const { lookups, generation, putBackSince } = inForce;
  const mapping = isUsable(inForce) ? mappingOf(inForce) : undefined;
  if (!mapping || !lookups) return undefined;
  const compiled = toRulesSnapshot({ mapping }, lookups);
  return { ...compiled, rules: withPilot(compiled.rules, inForce), generation, putBackSince };
}

/** Returns the rules with the pilot of the connection. */
export function withPilot(rules: Rules, { pilot }: Pick<RulesInForce, 'pilot'>): Rules {
  return pilot === undefined ? rules : { ...rules, pilot: compileScope(pilot) };
}

/**
 * Creates the snapshot of a mapping and lookups that are not in force. The order of the lookups does not change its
 * version.
 */
export function toRulesSnapshot({ mapping }: { mapping: Mapping }, unsorted: Lookups): RulesSnapshot {
  const lookups = withSortedItems(unsorted);
  const rules = compileRules(mapping, lookups.scimUserMappings);
  const content = canonicalJson(lookups);
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { rules, lookups, version: `${rules.version}.${digest}`, generation: 0 };
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
  const keyed = items.map((item) => ({ item, key: canonicalJson(item) }));
  return keyed.sort((item, other) => (item.key < other.key ? -1 : 1)).map(({ item }) => item);
}

/**
 * False for rules that a replica with another edition of the code has put in force. This replica would translate with
 * them otherwise, so it leaves the reconciliation to the others.
 */
export function isUsable({ edition }: RulesInForce): boolean {
  return edition === EDITION;
}

/** Returns what is stored of a mapping that comes into force. */
export function contentOf(mapping: Mapping): Pick<RulesInForce, 'mapping' | 'digest' | 'edition'> {
  return { mapping, digest: digestOf(mapping), edition: EDITION };
}
