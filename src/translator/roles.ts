import { type FieldKey, rolesTarget, type TraceEntry, travelRoles } from '../model/translation.ts';
import { isObject, type Json, type ScimResource, urns } from '../schema/resource.ts';
import { absentEntry, type TranslationDraft, type TranslationInput, toFinding } from './decide.ts';
import { usableSources } from './rules/compiled-fields.ts';
import { allPreparedValues, type RuleSources, ruleSources, tracedRule } from './rules/rule-sources.ts';
import { oncePerRules, type Rule, type Rules } from './rules/rules.ts';
import {
  type NamedRole,
  namedRoles,
  type RoleTable,
  readRoles,
  roleFault,
  rolesIn,
  roleTable,
  toKnownRole,
  unknownRole,
} from './values/role-names.ts';
import { type Fault, valueAt } from './values/values.ts';

/**
 * Decides the roles. Each role that the mapping allows is a field. A role that a mapping rule itself contains is given if a rule gives it,
 * and not otherwise; the roles of the user decide the others, to which a rule adds those that it reads.
 */
export function translateRoles(
  draft: TranslationDraft,
  rules: Rules,
  { resource, ...input }: TranslationInput & { resource: ScimResource },
): void {
  const compiled = compiledRoles(rules);
  for (const rule of compiled.rules) translateRoleRule(draft, rule, { ...input, table: compiled.table });
  translateSentRoles(draft, resource, compiled);
}

/** A rule that gives roles. */
interface RoleRule extends RuleSources {
  rule: Rule;
  /** The fields of the roles that the rule itself contains; `roles` if it contains none. */
  keys: FieldKey[];
}

/** The rules for roles with everything that depends on the mapping only. */
interface CompiledRoles {
  rules: RoleRule[];
  /** The roles that rules contain. */
  named: ReadonlySet<string>;
  table: RoleTable;
}

const compiledRoles = oncePerRules(compileRoles);

function compileRoles({ rules, mapping }: Rules): CompiledRoles {
  const table = roleTable(mapping);
  const own = rules.filter(({ target }) => target.kind === 'field' && target.field === rolesTarget);
  const named = new Map(own.map((rule) => [rule, constantRoles(rule, table)]));
  const compiled = own.map((rule): RoleRule => {
    const keys = (named.get(rule) ?? []).map((role) => `roles.${role}`);
    return { rule, keys: keys.length > 0 ? keys : [rolesTarget], ...ruleSources(rule) };
  });
  return { rules: compiled, named: new Set([...named.values()].flat()), table };
}

function constantRoles(rule: Rule, table: RoleTable): string[] {
  const roles = rule
    .constants()
    .flatMap((constant) => ('value' in constant ? readRoles(constant.value, table).roles : []));
  return [...new Set(roles)];
}

/** The SCIM paths from which roles are read. Their roles add up. */
export const roleSources: readonly string[] = [`${urns.travel}:roles.value`, 'roles.value'];

/**
 * Decides the roles of the travel extension and of the core attribute, but none that a rule contains. Okta adds its own to `roles` and
 * sends the extension back as it read it, so that neither replaces the other.
 */
function translateSentRoles(
  draft: TranslationDraft,
  user: ScimResource,
  { table, named }: CompiledRoles,
): void {
  const extension = valueAt(user, urns.travel);
  const sent = [isObject(extension) ? extension : {}, user].map((container) => rolesIn(container, table));
  for (const [source, roles] of sent.entries()) {
    const traced: TracedRule = { origin: 'default', rule: roleSources[source] ?? '' };
    for (const role of roles) {
      const known = toKnownRole(role.names, table);
      if (known === undefined || !named.has(known)) translateRole(draft, role, { traced, table });
      else draft.trace.push(leftToRules(known, role.raw, traced));
    }
  }
  if (sent.every((roles) => roles.length === 0)) {
    const absent = { outcome: 'absent', reason: 'no value' } as const;
    draft.trace.push({ field: 'roles', origin: 'default', rule: roleSources.at(-1) ?? '', ...absent });
  }
}

function leftToRules(role: string, raw: Json, traced: TracedRule): TraceEntry {
  const reason = 'the mapping file decides this role';
  return { field: `roles.${role}`, ...traced, outcome: 'skipped', before: raw, reason };
}

/** Decides the roles that one rule gives: all values of its source name roles. */
function translateRoleRule(
  draft: TranslationDraft,
  { rule, keys, waits, ...sources }: RoleRule,
  { user, table }: Pick<TranslationInput, 'user'> & { table: RoleTable },
): void {
  const traced = tracedRule(rule);
  const { condition } = rule;
  if (condition && !condition.holds(user.resource)) {
    const reason = `when ${condition.text} is false`;
    for (const field of keys) draft.trace.push({ field, ...traced, outcome: 'skipped', reason });
    return;
  }
  for (const source of usableSources(sources, user)) {
    const values = allPreparedValues(source, user);
    if (values.length === 0) draft.trace.push(...keys.map((field) => absentEntry(field, source)));
    const group = source.groupOf?.(user);
    const named = group === undefined ? traced : { ...traced, group };
    const given = values.flatMap(({ raw, readings }) =>
      readings.map((reading) => {
        if ('value' in reading) return giveRoles(draft, reading.value, { traced: named, table });
        reportFault(draft, { raw, fault: reading.fault, keys, traced: named });
        return false;
      }),
    );
    if (waits && given.includes(true)) return;
  }
}

/** A fault of the mapping takes no role away: those that the rule may have given stay as they are. */
function reportFault(
  { fields, findings, trace }: TranslationDraft,
  failed: { raw: Json; fault: Fault; keys: FieldKey[]; traced: TracedRule },
): void {
  const { raw, fault, keys, traced } = failed;
  const isOfMapping = fault.mappingPath !== undefined;
  findings.push(toFinding(rolesTarget, raw, fault));
  trace.push({
    ...{ field: rolesTarget, ...traced, before: raw, reason: fault.reason },
    outcome: isOfMapping ? 'kept' : 'skipped',
  });
  if (!isOfMapping) return;
  const concerned = keys.includes(rolesTarget) ? travelRoles.map((role) => `roles.${role}`) : keys;
  for (const key of concerned) fields[key] ??= { kind: 'kept' };
}

/** The rule that gives a role, as the trace names it. */
type TracedRule = Pick<TraceEntry, 'origin' | 'rule' | 'when' | 'group'>;

/** Gives each role that a value names. Returns false if none can be given. */
function giveRoles(
  draft: TranslationDraft,
  value: Json,
  rule: { traced: TracedRule; table: RoleTable },
): boolean {
  const given = namedRoles({ value }, rule.table).map((role) => translateRole(draft, role, rule));
  return given.includes(true);
}

function translateRole(
  { fields, findings, trace }: TranslationDraft,
  { raw, names }: NamedRole,
  { traced, table }: { traced: TracedRule; table: RoleTable },
): boolean {
  const role = toKnownRole(names, table);
  const fault = roleFault(role, table);
  const field = role === undefined ? 'roles' : `roles.${role}`;
  if (role === undefined || fault) {
    const reported = fault ?? unknownRole;
    findings.push(toFinding(field, raw, reported));
    trace.push({ field, ...traced, outcome: 'skipped', before: raw, reason: reported.reason });
    return false;
  }
  fields[field] = { kind: 'value', value: true, source: raw };
  trace.push({ field, ...traced, outcome: 'set', before: raw, after: role });
  return true;
}
