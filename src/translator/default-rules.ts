import type { FieldKey, TraceEntry } from '../model/translation.ts';
import { roleSources } from './roles.ts';
import { findRules, type Rules } from './rules/rules.ts';

/**
 * The use of a rule that is not in the mapping: always, only for users for whom no condition holds (`otherwise`), or never, because a rule
 * that takes precedence over it sets the field.
 */
export const ruleUses = ['always', 'otherwise', 'replaced'] as const;

/** A rule that is in force without being in the mapping, in the form in which a mapping could have it. */
export interface OtherRule {
  origin: Exclude<TraceEntry['origin'], 'file'>;
  /** The key of the field; `roles` for all roles. */
  field: FieldKey;
  use: (typeof ruleUses)[number];
  /** Undefined for `archived` and the roles, whose default rules cannot be written. */
  written: WrittenRule | undefined;
  /** What the rule reads after that and no path can say, as traces name it. */
  others: string[];
  /** The setting of the mapping with the value of users without one, e.g. `defaults.costCenter`. */
  setting: string | undefined;
}

type WrittenRule = {
  scimAttribute?: string;
  sources?: string[];
  fallback?: 'unusable';
  userAttribute?: string;
  customFieldId?: string;
};

/** Returns the rules of the collection, then the default rules in the order of the table of fields. */
export function otherRules(rules: Rules): OtherRule[] {
  // Preferences have no default rule.
  const withDefault = rules.fields.filter(({ sources }) => sources.length > 0);
  return [...collectionRules(rules), ...withDefault.map(defaultRule(rules)), ...rulesWithoutRow];
}

function collectionRules(rules: Rules): OtherRule[] {
  const common = { origin: 'collection' as const, others: [], setting: undefined };
  return rules.rules
    .filter(({ origin }) => origin === 'collection')
    .map((rule): OtherRule => {
      const { target, text: scimAttribute } = rule;
      if (target.kind === 'customField') {
        const written = { scimAttribute, customFieldId: target.value };
        return { ...common, field: `customFields.${target.value}`, use: 'always', written };
      }
      const { conditional, overridden } = findRules(rules, target.field);
      const use = conditional.length > 0 ? 'otherwise' : 'always';
      const written = { scimAttribute, userAttribute: target.field };
      return { ...common, field: target.field, use: overridden.includes(rule) ? 'replaced' : use, written };
    });
}

function defaultRule(rules: Rules): (field: Rules['fields'][number]) => OtherRule {
  return ({ key, sources, setting }) => {
    const { conditional, otherwise } = findRules(rules, key);
    const use = conditional.length > 0 ? 'otherwise' : 'always';
    const paths = sources.flatMap(({ path }) => path ?? []);
    const [scimAttribute = '', ...further] = paths;
    // A default rule uses the first usable value.
    const input = further.length > 0 ? { sources: paths, fallback: 'unusable' as const } : { scimAttribute };
    return {
      ...{ origin: 'default', field: key, use: otherwise ? 'replaced' : use },
      written: { ...input, userAttribute: key },
      others: sources.filter(({ path }) => path === undefined).map(({ rule }) => rule),
      setting: setting?.path,
    };
  };
}

/** The default rules of what no rule can set. */
const rulesWithoutRow = [ruleWithoutRow('archived', ['active']), ruleWithoutRow('roles', [...roleSources])];

function ruleWithoutRow(field: FieldKey, others: string[]): OtherRule {
  return { origin: 'default', field, use: 'always', written: undefined, others, setting: undefined };
}
