import type { OtherRule } from '../../../../../operations/mappings/mappings.ts';
import type { PersonField } from '../../../../../operations/people/person.ts';
import type { WrittenRule } from './rules.ts';

type AppliedRule = PersonField['rules'][number];

/** The rule to which a link leads: that of a field, with its condition if it has one. */
export interface LinkedRule {
  field: string;
  origin: string;
  when: string | null;
}

/** The address of a rule: Mappings with the table at the rule, and with a person as the example if there is one. */
export function ruleHref(
  { connection, id }: { connection: string; id?: string },
  { field, origin, when }: Pick<AppliedRule, 'origin' | 'when'> & { field: string },
): string {
  const query = new URLSearchParams({
    ...(id === undefined ? { connection } : { person: `${connection}/${id}` }),
    ...{ field, origin },
    ...(when === undefined ? {} : { when }),
  });
  return `~/admin/mappings?${query}`;
}

/** Reads the rule from the address; undefined if the address names none. */
export function readLinkedRule(search: URLSearchParams): LinkedRule | undefined {
  const field = search.get('field');
  if (field === null) return undefined;
  return { field, origin: search.get('origin') ?? '', when: search.get('when') };
}

/** Returns the place of the linked rule in the list of a mapping, from 0; -1 if it is not in it. `names` are those of custom fields by key. */
export function findLinkedRule(
  rules: readonly WrittenRule[],
  { field, origin, when }: LinkedRule,
  names: Record<string, string>,
): number {
  if (origin !== 'file') return -1;
  return rules.findIndex(
    ({ userAttribute, customField, customFieldId, when: condition }) =>
      (condition ?? null) === when &&
      (userAttribute === field ||
        `customFields.${String(customFieldId)}` === field ||
        (customField !== undefined && customField === names[field])),
  );
}

/** True for the rule besides the mapping to which a link leads. A setting of the mapping belongs to the default rule of its field. */
export function isLinkedRule(rule: OtherRule, { field, origin }: LinkedRule): boolean {
  const isOfField = rule.field === field || (rule.field === 'roles' && field.startsWith('roles.'));
  return isOfField && rule.origin === (origin === 'collection' ? 'collection' : 'default');
}

/** The address of the difference between a version of a mapping and the one before it. */
export function versionHref(connection: string, version: number | undefined): string {
  const query = new URLSearchParams({
    connection,
    ...(version !== undefined && { version: String(version) }),
  });
  return `~/admin/mappings?${query}`;
}
