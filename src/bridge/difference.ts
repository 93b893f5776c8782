import type { Json } from '../schema/resource.ts';
import { readField } from '../translator/fields.ts';
import { emptyPlan, type Plan } from '../translator/plan.ts';
import type { FieldKey, Finding } from '../translator/result.ts';
import { canonicalJson, same } from '../translator/same.ts';
import type { Identity } from './identity.ts';
import type { Outlook } from './outlook.ts';

/** One field of a traveler that other rules would change; null stands for no value. */
export interface Change {
  field: FieldKey;
  before: Json;
  after: Json;
  /** The travel API has refused this very value before, and would be asked anew. */
  isAgain: boolean;
}

/** What other rules mean for one person. */
export interface Difference {
  /** `created`: gets a traveler at last; `pending`: does not get one any more; `changed`: a call would be made for the traveler. */
  outcome: 'same' | 'changed' | 'created' | 'pending';
  changes: Change[];
  /** Fields that would be ours no longer; their values stay. */
  released: FieldKey[];
  /** Findings that would be new. */
  comes: Finding[];
  /** Findings that would be gone. */
  goes: Finding[];
}

/** What only an answer of the travel API tells: an outlook asks for none, so it can neither find nor miss it. */
const toldByTravelApi = [
  'drift',
  'refusedByTravelApi',
  'forbidden',
  'existingUser',
  'privileged',
  'guarded',
  'safetyValve',
  'rulesHeld',
  'returnHeld',
  'ownCredential',
  'customFieldLost',
];

/** What was decided when the IdP wrote, whatever the rules. */
const toldByOrigin = ['movedFrom'];

/** Compares two outlooks for one person. Without `from`, the new one is compared with what was sent and found last. */
export function difference(identity: Identity, from: Outlook | undefined, to: Outlook): Difference {
  const before = from ?? asSettled(identity, to);
  const changes = changesBetween(identity, before.plan, to.plan);
  const told = { before: tellable(before), after: tellable(to) };
  return {
    outcome: outcomeOf(before, to, changes),
    changes: to.isPending ? [] : changes,
    released: to.plan.released.filter((key) => !before.plan.released.includes(key)),
    comes: without(told.after, told.before),
    goes: without(told.before, told.after),
  };
}

/** Somebody with nothing left to do. Who has no traveler yet and is on the way to one gets it under any rules. */
function asSettled({ travelId, state, findings }: Identity, to: Outlook): Outlook {
  const isPending = travelId === undefined && state === 'pending';
  const isUnderWay = travelId === undefined && !isPending && !to.isPending;
  return { plan: isUnderWay ? to.plan : emptyPlan, findings, isPending };
}

function outcomeOf(before: Outlook, to: Outlook, changes: Change[]): Difference['outcome'] {
  if (to.isPending) return before.isPending ? 'same' : 'pending';
  if (before.isPending) return 'created';
  return changes.length > 0 ? 'changed' : 'same';
}

function changesBetween(identity: Identity, before: Plan, after: Plan): Change[] {
  const keys = new Set([before, after].flatMap(({ set, remove }) => [...Object.keys(set), ...remove]));
  return [...keys].flatMap((field) => {
    const [old, next] = [moveOf(before, field), moveOf(after, field)];
    if (same(old, next)) return [];
    const there = valueNow(identity, field);
    const refused = identity.refused[field];
    const isAgain = old === undefined && refused !== undefined && same(refused.value, next);
    return [
      {
        field,
        before: old ?? (old === null ? null : there),
        after: next ?? (next === null ? null : there),
        isAgain,
      },
    ];
  });
}

/** What a plan sends for a field: null to take it away, undefined when nothing. */
function moveOf({ set, remove }: Plan, field: FieldKey): Json | undefined {
  return remove.includes(field) ? null : set[field]?.value;
}

function valueNow({ observed, applied }: Identity, field: FieldKey): Json {
  return (observed ? readField(observed, field) : applied[field]?.answered) ?? null;
}

function tellable({ findings }: Outlook): Finding[] {
  return findings.filter(({ code }) => !toldByTravelApi.includes(code) && !toldByOrigin.includes(code));
}

function without(some: Finding[], others: Finding[]): Finding[] {
  const known = new Set(others.map(markOf));
  return some.filter((finding) => !known.has(markOf(finding)));
}

function markOf({ field, code, value = null }: Finding): string {
  return canonicalJson([field, code, value]);
}
