import type { Json, ScimResource } from '../schema/resource.ts';
import type { Candidate } from './candidate.ts';
import { type CustomFieldTarget, decideCustomField, findField } from './custom-field.ts';
import { findingOf } from './decide.ts';
import { joined, type Part, partOf } from './part.ts';
import { type Context, type Fault, unusable } from './reading.ts';
import type { AppliedField, Wanted } from './result.ts';
import type { Rule, Rules } from './rules.ts';
import { same } from './same.ts';
import type { CustomField } from './snapshot.ts';
import { ruleSource, valuesIn } from './sources.ts';

/** Decides every custom field that a rule sets; of several rules for one, the first in order of precedence. */
export function decideCustomFields(
  { rules }: Rules,
  { user, context }: { user: ScimResource; context: Context },
): Part {
  const known: Part[] = [];
  const unknown: Part[] = [];
  const owners = new Map<string, Rule>();
  for (const rule of rules) {
    const { target } = rule;
    if (target.kind !== 'customField') continue;
    const field = findField(target, context.lookups.customFields);
    if ('code' in field) {
      unknown.push(withoutField(rule, field, { user, context, target }));
      continue;
    }
    const owner = owners.get(field.id);
    owners.set(field.id, owner ?? rule);
    known.push(owner ? superseded(rule, owner, field) : decided(rule, field, { user, context }));
  }
  return joined([...unknown, ...known]);
}

function decided(rule: Rule, field: CustomField, of: { user: ScimResource; context: Context }): Part {
  return partOf(keyOf(field.id), decideCustomField(rule, field, of));
}

function keyOf(id: string): string {
  return `customFields.${id}`;
}

interface Case {
  user: ScimResource;
  context: Context;
  target: CustomFieldTarget;
}

/** A rule whose field is not in the lookups: of no matter to a user who has no value for it. */
function withoutField(rule: Rule, fault: Fault, { user, context, target }: Case): Part {
  const source = ruleSource(rule, user);
  const [raw] = source.raws;
  const field = keyOf(target.value);
  const entry = { field, origin: rule.origin, rule: rule.text };
  if (raw === undefined) {
    const fields: Part['fields'] = target.by === 'id' ? { [field]: { kind: 'absent' } } : {};
    return {
      fields,
      findings: [],
      trace: [{ ...entry, outcome: 'absent', reason: 'no value' }],
      missed: false,
    };
  }
  return {
    fields:
      target.by === 'id'
        ? { [field]: open(valuesIn(source), context.applied[field]) }
        : openOnes(source, context),
    findings: [findingOf(field, raw, fault)],
    trace: [{ ...entry, outcome: 'unresolved', before: raw, reason: fault.reason }],
    missed: fault.missed === true,
  };
}

/** The fields that were set from the same value when the name was still known: their value stays. */
function openOnes(source: Candidate, { applied }: Context): Part['fields'] {
  const values = valuesIn(source);
  const keys = Object.keys(applied).filter(
    (key) => key.startsWith(keyOf('')) && isFrom(values, applied[key]),
  );
  return Object.fromEntries(keys.map((key) => [key, open(values, applied[key])]));
}

/** Unresolved, from what was applied if it is still there. */
function open(values: Json[], applied: AppliedField | undefined): Wanted {
  const [first = null] = values;
  return { kind: 'unresolved', source: applied && isFrom(values, applied) ? applied.source : first };
}

function isFrom(values: Json[], applied: AppliedField | undefined): boolean {
  return applied !== undefined && [values, ...values].some((value) => same(value, applied.source));
}

function superseded(rule: Rule, owner: Rule, { id, name }: CustomField): Part {
  const where = owner.origin === 'file' ? 'the mapping file' : 'the scimUserMapping collection';
  const reason = `${where} sets this field from ${owner.text}`;
  const trace: Part['trace'] = [
    { field: keyOf(id), origin: rule.origin, rule: rule.text, outcome: 'skipped', reason },
  ];
  if (owner.origin !== rule.origin) return { fields: {}, findings: [], trace, missed: false };
  const { fault } = unusable(
    'customFieldTwice',
    `Two rules set the custom field "${name}"; that of ${owner.text} is used.`,
    'Keep one of the two rules in the mapping.',
  );
  return { fields: {}, findings: [findingOf(keyOf(id), rule.text, fault)], trace, missed: false };
}
