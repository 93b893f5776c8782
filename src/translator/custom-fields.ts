import type { ScimResource } from '../schema/resource.ts';
import { type CustomFieldTarget, decideCustomField, findField } from './custom-field.ts';
import { findingOf, withoutRemoval } from './decide.ts';
import { joined, type Part, partOf } from './part.ts';
import { type Context, type Fault, faultOfMapping, unusable } from './reading.ts';
import type { Wanted } from './result.ts';
import type { Rule, Rules } from './rules.ts';
import type { CustomField } from './snapshot.ts';
import { ruleSource } from './sources.ts';

/** Decides every custom field that a rule sets; of several rules for one, the first in order of precedence. */
export function decideCustomFields(
  { rules, faults }: Rules,
  { user, context }: { user: ScimResource; context: Context },
): Part {
  const known: Part[] = [];
  const unknown: { rule: Rule; part: Part }[] = [];
  const owners = new Map<string, Rule>();
  for (const rule of rules) {
    const { target } = rule;
    if (target.kind !== 'customField') continue;
    const field = findField(target, context.lookups.customFields);
    if ('code' in field) {
      unknown.push({ rule, part: withoutField(rule, field, { user, target }) });
      continue;
    }
    const owner = owners.get(field.id);
    owners.set(field.id, owner ?? rule);
    // A rule of the collection may set a field only because the name in the file's rule for it is unknown.
    const isUnsure = rule.origin === 'collection' && unknown.some((other) => other.rule.origin === 'file');
    const decided = () => {
      const decision = decideCustomField(rule, field, { user, context });
      return partOf(keyOf(field.id), isUnsure ? withoutRemoval(decision) : decision);
    };
    known.push(owner ? superseded(rule, owner, field) : decided());
  }
  const isFaulty = unknown.length > 0 || faults.some((fault) => fault.field.startsWith(keyOf('')));
  const kept = isFaulty ? [undecided(context, owners)] : [];
  return joined([...kept, ...unknown.map(({ part }) => part), ...known]);
}

/**
 * Any of the applied fields that no known rule sets may be the one that an unknown name meant: each stays as it is, and
 * stays owned, until the mapping is mended.
 */
function undecided({ applied }: Context, owners: Map<string, Rule>): Part {
  const keys = Object.keys(applied).filter(
    (key) => key.startsWith(keyOf('')) && !owners.has(key.slice(keyOf('').length)),
  );
  const fields = Object.fromEntries(keys.map((key) => [key, { kind: 'kept' } as const]));
  return { fields, findings: [], trace: [], missed: false };
}

function keyOf(id: string): string {
  return `customFields.${id}`;
}

interface Case {
  user: ScimResource;
  target: CustomFieldTarget;
}

/** A rule whose field is not in the lookups: of no matter to a user who has no value for it. */
function withoutField(rule: Rule, unknown: Fault, { user, target }: Case): Part {
  const fault = faultOfMapping(unknown, rule.targetPath, unknown.remedy);
  const [raw] = ruleSource(rule, user).raws;
  const field = keyOf(target.value);
  const entry = { field, origin: rule.origin, rule: rule.text };
  const fieldsWith = (wanted: Wanted): Part['fields'] => (target.by === 'id' ? { [field]: wanted } : {});
  if (raw === undefined) {
    const fields = fieldsWith({ kind: 'absent' });
    const trace: Part['trace'] = [{ ...entry, outcome: 'absent', reason: 'no value' }];
    return { fields, findings: [], trace, missed: false };
  }
  const { reason, mappingPath } = fault;
  return {
    fields: fieldsWith({ kind: 'kept' }),
    findings: [findingOf(field, raw, fault)],
    trace: [
      {
        ...entry,
        outcome: 'kept',
        before: raw,
        reason,
        ...(mappingPath === undefined ? {} : { mappingPath }),
      },
    ],
    missed: fault.missed === true,
  };
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
