import type {
  AppliedField,
  AppliedFields,
  CustomField,
  FieldKey,
  Finding,
  Plan,
  PlannedValue,
  RefusedFields,
  WantedField,
} from '../../model/translation.ts';
import type { CustomFieldValue, TravelerChange, TravelUser } from '../../model/traveler.ts';
import { withVisibleCharacters } from '../../schema/clean-text.ts';
import type { Json } from '../../schema/resource.ts';
import { isSetByRules, type Rules } from '../rules/rules.ts';
import { isEqualJson } from '../values/values.ts';
import { isDrift, showsValue } from './field-records.ts';
import { hasValue, isArrayElement, parseFieldKey, readField, requiredKeys } from './traveler.ts';

/** The input of a plan. */
export interface PlanInput {
  applied: AppliedFields;
  refused: RefusedFields;
  wanted: Record<FieldKey, WantedField>;
  /** The traveler as last read; undefined if there is none yet. */
  observed: TravelUser | undefined;
  /** True if the values from before the bridge owned a field are put back where the rules give none. */
  isPutBack?: boolean;
  /** The version of rules and lookups. A value that was refused under the same version is not sent again. */
  basis: string;
  rules: Rules;
}

/** A plan that contains no changes. */
export const emptyPlan: Plan = { set: {}, adopt: {}, remove: [], released: [], needsFreshRead: false };

/** Plans the changes to a traveler: a three-way merge of the fields that were sent, are wanted and were observed. */
export function makePlan(input: PlanInput): Plan {
  const plan: Plan = { set: {}, adopt: {}, remove: [], released: [], needsFreshRead: false };
  for (const key of new Set([...Object.keys(input.wanted), ...Object.keys(input.applied)])) {
    const step = stepFor(key, input);
    if (!step) continue;
    if (step.kind === 'set' || step.kind === 'adopt') plan[step.kind][key] = step.planned;
    if (step.kind === 'remove') plan.remove.push(key);
    if (step.kind === 'release') plan.released.push(key);
    if (step.kind === 'putBack') {
      plan.released.push(key);
      if (step.value === null) plan.remove.push(key);
      else plan.set[key] = { value: step.value, source: null };
    }
  }
  const isReadFirst = [...Object.keys(plan.set), ...plan.remove].some(needsRead);
  return { ...plan, needsFreshRead: isReadFirst };
}

/** True for a role that stays when the IdP takes it away, because the traveler had it before. */
export function isKeptRole(key: FieldKey, applied: AppliedFields): boolean {
  return parseFieldKey(key).kind === 'role' && applied[key]?.before === true;
}

function needsRead(key: FieldKey): boolean {
  return isArrayElement(key) || requiredKeys.includes(key) || parseFieldKey(key).kind === 'address';
}

type Step =
  | { kind: 'set' | 'adopt'; planned: PlannedValue }
  | { kind: 'putBack'; value: Json }
  | { kind: 'remove' | 'release' | 'keep' }
  | undefined;

function stepFor(key: FieldKey, input: PlanInput): Step {
  const entry = input.applied[key];
  const field = input.wanted[key];
  switch (field?.kind) {
    case 'value':
      return stepForValue(key, field, input);
    case 'unresolved':
      return entry && isEqualJson(entry.source, field.source)
        ? stepToKeep(key, entry, input)
        : stepToRemove(key, input);
    case 'kept':
      return undefined;
    case 'absent':
      return stepToPutBack(key, input) ?? stepToRemove(key, input);
    case undefined:
      if (isSetByRules(input.rules, key) && !isKeptRole(key, input.applied))
        return stepToPutBack(key, input) ?? stepToRemove(key, input);
      return stepToPutBack(key, input) ?? { kind: 'release' };
  }
}

function stepForValue(key: FieldKey, { value, source }: PlannedValue, input: PlanInput): Step {
  const entry = input.applied[key];
  const planned = { value, source };
  if (entry && isEqualJson(entry.sent, value)) {
    // Compare with the value sent, because the travel API may spell its answer differently.
    if (!mustSendAgain(key, entry, input))
      return isEqualJson(entry.source, source) ? undefined : { kind: 'adopt', planned };
    return isRefused(key, value, input) ? undefined : { kind: 'set', planned };
  }
  if (isRefused(key, value, input)) return undefined;
  const { observed, rules } = input;
  const isKnown = entry !== undefined && entry.seen !== undefined;
  const isPresent = !isKnown && observed && hasValue(observed, { key, wanted: value, rules });
  return { kind: isPresent ? 'adopt' : 'set', planned };
}

/** Sends the value of a field again that stays as it is, if the traveler may not have it. */
function stepToKeep(key: FieldKey, entry: AppliedField, input: PlanInput): Step {
  const { sent, source } = entry;
  return sent === null ? stepToRemove(key, input) : stepForValue(key, { value: sent, source }, input);
}

/** True if the traveler does not have the value that was sent, and that is no drift: nobody has seen it there since. */
function mustSendAgain(key: FieldKey, { sent, seen }: AppliedField, { observed, rules }: PlanInput): boolean {
  if (seen !== undefined) return false;
  return observed === undefined || !showsValue(observed, { key, sent, rules });
}

function stepToRemove(key: FieldKey, input: PlanInput): Step {
  const entry = input.applied[key];
  if (!entry || requiredKeys.includes(key)) return undefined;
  if (isKeptRole(key, input.applied)) return { kind: 'release' };
  if (isRefused(key, null, input)) return undefined;
  const isSent = entry.sent === null && !mustSendAgain(key, entry, input);
  return isSent ? undefined : { kind: 'remove' };
}

/** Puts the value back that the bridge has replaced. Where somebody has entered another one in the travel service, that is the one. */
function stepToPutBack(key: FieldKey, input: PlanInput): Step {
  const { observed, rules } = input;
  const entry = input.applied[key];
  if (!input.isPutBack || !observed || entry?.before === undefined) return undefined;
  if (parseFieldKey(key).kind === 'role') return undefined;
  const shown = readField(observed, key) ?? null;
  const isDone = showsValue(observed, { key, sent: entry.before, rules });
  if (isDone || isDrift(key, entry, shown)) return { kind: 'release' };
  return isRefused(key, entry.before, input) ? { kind: 'keep' } : { kind: 'putBack', value: entry.before };
}

function isRefused(key: FieldKey, value: Json, { refused, basis }: PlanInput): boolean {
  const before = refused[key];
  return before !== undefined && before.basis === basis && isEqualJson(before.value, value);
}

/** True if a plan needs no call. */
export function isEmptyPlan({ set, remove }: Plan): boolean {
  return Object.keys(set).length === 0 && remove.length === 0;
}

/**
 * Finds the planned fields that a response refuses by name. An array element is named by its key or by its index in the
 * change that was sent. If the change is not known or the named element is not planned, all planned elements of the array
 * are returned.
 */
export function findInvalidFields(
  names: string[],
  { set, remove }: Plan,
  change?: TravelerChange,
): FieldKey[] {
  const planned = [...Object.keys(set), ...remove];
  return planned.filter((key) => names.some((name) => isNamed(key, name, { planned, change })));
}

function isNamed(
  key: FieldKey,
  name: string,
  sent: { planned: FieldKey[]; change: TravelerChange | undefined },
): boolean {
  const [head = '', index = ''] = name.split(/[.[\]]+/);
  if (key === name || key.startsWith(`${name}.`)) return true;
  if (!isArrayElement(key) || !key.startsWith(`${head}.`)) return name.startsWith(`${key}.`);
  // If the travel service demands a custom field that was not sent, the custom fields that were sent are not at fault.
  if (!isIndex.test(index) && !sent.planned.includes(`${head}.${index}`)) return false;
  const element = elementKey(head, index, sent.change);
  return sent.planned.includes(element) ? element === key : true;
}

/** Matches an array index. More than six digits are an id that consists of digits. */
const isIndex = /^\d{0,6}$/;

function elementKey(head: string, index: string, change: TravelerChange | undefined): FieldKey {
  const elements =
    head === 'roles' ? change?.roles : change?.customFields?.map(({ customFieldId }) => customFieldId);
  return `${head}.${elements?.[Number(index)] ?? index}`;
}

/** Finds the owned fields whose values somebody has changed in the travel service. */
export function findDrift(applied: AppliedFields, observed: TravelUser): Finding[] {
  return Object.entries(applied).flatMap(([key, entry]) => {
    const now = readField(observed, key) ?? null;
    const isHidden = key === 'archived' && observed.isArchivedUnknown === true;
    if (isHidden || !isDrift(key, entry, now)) return [];
    return [
      {
        field: key,
        code: 'drift',
        value: withVisibleCharacters(now),
        reason: `Somebody changed this in the travel service; the identity provider wants ${JSON.stringify(withVisibleCharacters(entry.seen ?? null))}.`,
        remedy: 'Change it in the identity provider instead, or have drift corrected (policy drift).',
      },
    ];
  });
}

/** A change that the travel API refused (422), with the data from which it was built. */
export interface RefusedChange {
  /** The names of the fields that the answer refuses. */
  names: string[];
  change: TravelerChange;
  /** The keys of the fields that were to be changed. */
  planned: FieldKey[];
  current: TravelUser | undefined;
  /** The custom fields of the travel service, read again after the refusal. */
  customFields: CustomField[];
}

/** The result of `findUnsendableValues`. */
export interface Unsendable {
  /**
   * Values that a change only repeated and that the travel API refuses, because their field or option is disabled or
   * deleted.
   */
  values: CustomFieldValue[];
  /** The refused names that do not refer to such values. */
  names: string[];
  /**
   * True if a name refers to a repeated value that should be valid according to the custom fields in `RefusedChange`;
   * these may be outdated.
   */
  isDoubtful: boolean;
}

/** Finds the repeated custom field values that the next change must omit. */
export function findUnsendableValues({
  names,
  change,
  planned,
  current,
  customFields,
}: RefusedChange): Unsendable {
  const carried = (current?.customFields ?? []).filter(
    ({ customFieldId }) => !planned.includes(`customFields.${customFieldId}`),
  );
  const unsendable = carried.flatMap((field) => disabledPart(field, customFields));
  const meant = (name: string, among: CustomFieldValue[]) => {
    const ids = elementIds(name, change);
    return among.filter(({ customFieldId }) => ids.includes(customFieldId));
  };
  const others = names.filter((name) => meant(name, unsendable).length === 0);
  return {
    values: unsendable.filter((value) => names.some((name) => meant(name, unsendable).includes(value))),
    names: others,
    isDoubtful: others.some((name) => meant(name, carried).length > 0),
  };
}

/**
 * Returns the values of a custom field that cannot be assigned: all if the field is disabled or deleted, else those
 * whose option is disabled.
 */
function disabledPart(held: CustomFieldValue, customFields: CustomField[]): CustomFieldValue[] {
  const field = customFields.find(({ id }) => id === held.customFieldId);
  if (!field || field.disabled) return [held];
  const values = held.values.filter(({ customFieldOptionId }) => {
    const option = field.options.find(({ id }) => id === customFieldOptionId);
    return customFieldOptionId !== undefined && option?.disabled !== false;
  });
  return values.length > 0 ? [{ ...held, values }] : [];
}

/** Returns the ids of the custom fields that a refused name refers to: by index in the change, by id, or all of them. */
function elementIds(name: string, { customFields }: TravelerChange): string[] {
  const [head, element = ''] = name.split(/[.[\]]+/);
  if (head !== 'customFields' || !customFields) return [];
  const ids = customFields.map(({ customFieldId }) => customFieldId);
  if (element === '') return ids;
  return ids.includes(element) ? [element] : ids.filter((_, index) => String(index) === element);
}
