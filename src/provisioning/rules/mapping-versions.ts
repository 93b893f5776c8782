import { isDeepStrictEqual } from 'node:util';
import type { MappingVersion, RulesStore } from '../../store/queues/rules-in-force.ts';
import { type Mapping, parseMapping } from '../../translator/mapping/mapping-file.ts';
import { compileRules, EDITION } from '../../translator/rules/rules.ts';
import { canonicalJson } from '../../translator/values/values.ts';

/** The mapping in force if neither a file nor a command has given one: the default rules only. */
export const defaultMapping: Mapping = { scimUserMapping: [] };

/** Returns a digest of a mapping and of the edition of the code that translates with it. */
export function digestOf(mapping: Mapping): string {
  return compileRules(mapping, []).version;
}

/** Parses a stored mapping; undefined if another version of Jetbridge stored it and this one cannot read it. */
export function mappingOf({ mapping }: { mapping: unknown }): Mapping | undefined {
  const parsed = parseMapping(mapping);
  return 'mapping' in parsed ? parsed.mapping : undefined;
}

/** True if a mapping with this digest was in force before, with any edition of the code. */
export async function wasInForce(
  rules: Pick<RulesStore, 'wasInForce' | 'listMappings'>,
  connection: string,
  digest: string,
): Promise<boolean> {
  if (await rules.wasInForce(connection, digest)) return true;
  const versions = await rules.listMappings(connection, ALL);
  return versions.some((version) => {
    const mapping = version.edition === EDITION ? undefined : mappingOf(version);
    return mapping !== undefined && digestOf(mapping) === digest;
  });
}

const ALL = Number.MAX_SAFE_INTEGER;

type Versions = Pick<RulesStore, 'listMappings'>;

/** Returns the history of a connection's mapping, the newest first: that is the mapping in force. */
export function listVersions(rules: Versions, connection: string, limit = ALL): Promise<MappingVersion[]> {
  return rules.listMappings(connection, limit);
}

/** Finds the mapping with this number in the history; without a number, the one in force. */
export async function findVersion(
  rules: Versions,
  connection: string,
  number?: number,
): Promise<MappingVersion | undefined> {
  if (number === undefined) return (await rules.listMappings(connection, 1))[0];
  return (await rules.listMappings(connection, ALL)).find((version) => version.number === number);
}

/**
 * Returns the generation with which the mapping after a version came into force: what was replaced since then, later mappings have replaced.
 * Undefined if there was none.
 */
export async function findReplacedSince(
  rules: Versions,
  connection: string,
  number: number,
): Promise<number | undefined> {
  return (await findVersion(rules, connection, number + 1))?.generation;
}

/** Names the one who put a mapping in force: a person, a mapping file, or the first start. */
export function authorOf({ source, author }: Pick<MappingVersion, 'source' | 'author'>): string {
  if (source === 'file') return author === undefined ? 'a mapping file' : `the mapping file ${author}`;
  return author ?? (source === 'default' ? 'the first start' : 'an admin');
}

/** The differences between two mappings. */
export interface MappingDifference {
  addedRules: unknown[];
  removedRules: unknown[];
  /** The other members of the mapping that differ, such as `defaults`. `$schema` is for editors and has no effect. */
  members: { name: string; before: unknown; after: unknown }[];
}

/** Compares two mappings as stored. The order of equal rules counts as no difference. */
export function compareMappings(before: unknown, after: unknown): MappingDifference {
  const [old, next] = [toMembers(before), toMembers(after)];
  const [oldRules, nextRules] = [toList(old[RULES]), toList(next[RULES])];
  const names = new Set([...Object.keys(old), ...Object.keys(next)]);
  const members = [...names].filter(
    (name) => name !== RULES && name !== '$schema' && !isDeepStrictEqual(old[name], next[name]),
  );
  return {
    addedRules: without(nextRules, oldRules),
    removedRules: without(oldRules, nextRules),
    members: members.map((name) => ({ name, before: old[name] ?? null, after: next[name] ?? null })),
  };
}

const RULES = 'scimUserMapping';

function toMembers(mapping: unknown): Record<string, unknown> {
  return { ...(typeof mapping === 'object' ? mapping : {}) };
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A list of versions compares up to 200 mappings, each of which can have hundreds of rules: each rule is looked at once. */
function without(some: unknown[], others: unknown[]): unknown[] {
  const texts = new Set(others.map(toText));
  return some.filter((one) => !texts.has(toText(one)));
}

function toText(rule: unknown): string {
  return canonicalJson(Object(rule));
}

/** Returns the number of rules that a stored mapping has of its own. */
export function countRules({ mapping }: MappingVersion): number {
  return toList(toMembers(mapping)[RULES]).length;
}
