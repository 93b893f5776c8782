import { withVisibleCharacters } from '../schema/clean-text.ts';
import type { Json } from '../schema/resource.ts';
import { areSameSpellings } from './confirmation.ts';
import { isSetByRules, type Rules } from './rules.ts';
import type {
  AppliedField,
  AppliedFields,
  CustomField,
  FieldKey,
  Finding,
  RefusedFields,
  WantedField,
} from './translation.ts';
import {
  type CustomFieldValue,
  hasValue,
  isArrayElement,
  parseFieldKey,
  readField,
  requiredKeys,
  type TravelerChange,
  type TravelUser,
} from './traveler.ts';
import { isEqualJson } from './values/values.ts';

/** A value that the bridge will own after the plan, and the SCIM value from which it was translated. */
interface PlannedValue {
  value: Json;
  source: Json;
}

/**
 * What a plan does with a field: as the rules want it, or `putBack`: the value that earlier rules have replaced is sent, or null for none, and
 * the field is not owned afterwards.
 */
export type PlannedField = WantedField | { kind: 'putBack'; value: Json; source: null };

/** The changes that bring a traveler to the wanted state. */
export interface Plan {
  /** Fields to send. */
  set: Record<FieldKey, PlannedValue>;
  /** Fields that become owned without a call, because the traveler already has the wanted value. */
  adopt: Record<FieldKey, PlannedValue>;
  /** Fields to remove from the traveler. */
  remove: FieldKey[];
  /**
   * Fields that the bridge stops owning: no rule sets them any more, or the traveler had the role before. Their values stay, unless the value
   * that earlier rules have replaced is put back.
   */
  released: FieldKey[];
  /**
   * True if the traveler must be read right before the call, for one of three reasons. An array is replaced whole, so
   * the request must repeat the elements that the bridge does not own. An address is removed whole if its last part is
   * removed. Email, roles and `archived` must not be changed if an administrator or a manual archive is concerned.
   */
  needsFreshRead: boolean;
}

/** The input of a plan. */
export interface PlanInput {
  applied: AppliedFields;
  refused: RefusedFields;
  wanted: Record<FieldKey, PlannedField>;
  /** The traveler as last read; undefined if there is none yet. */
  observed: TravelUser | undefined;
  /** The version of rules and lookups. A value that was refused under the same version is not sent again. */
  basis: string;
  rules: Rules;
}

/** A plan that contains no changes. */
export const emptyPlan: Plan = { set: {}, adopt: {}, remove: [], released: [], needsFreshRead: false };

/** Plans the changes to a traveler: a three-way merge of the fields that were applied, are wanted and were observed. */
export function makePlan(input: PlanInput): Plan {
  const { applied, wanted, rules } = input;
  const set: Plan['set'] = {};
  const adopt: Plan['adopt'] = {};
  const remove: FieldKey[] = [];
  for (const [key, field] of Object.entries(wanted)) {
    const step = stepFor(key, field, input);
    if (step === 'remove') remove.push(key);
    else if (step && step.kind === 'set') set[key] = step.planned;
    else if (step) adopt[key] = step.planned;
  }
  const unwanted = Object.keys(applied).filter((key) => !(key in wanted));
  const stays = (key: FieldKey) => !isSetByRules(rules, key) || isKeptRole(key, input);
  const isPutBack = (key: FieldKey) => wanted[key]?.kind === 'putBack';
  const dropped = unwanted.filter((key) => !stays(key) && isRemovable(key, input));
  const released = [
    ...unwanted.filter(stays),
    ...Object.keys(wanted).filter((key) => isPutBack(key) && (key in applied || key in set)),
  ];
  const removed = [...remove, ...dropped];
  const needsFreshRead = Object.keys(set).some(needsReadToSet) || removed.some(needsReadToRemove);
  return { set, adopt, remove: removed, released, needsFreshRead };
}

/** True for a role that stays when the IdP takes it away, because the traveler had it before. */
export function isKeptRole(key: FieldKey, { applied }: Pick<PlanInput, 'applied'>): boolean {
  const isRole = parseFieldKey(key).kind === 'role';
  return isRole && applied[key]?.preexisting === true;
}

function needsReadToSet(key: FieldKey): boolean {
  return isArrayElement(key) || requiredKeys.includes(key);
}

function needsReadToRemove(key: FieldKey): boolean {
  return isArrayElement(key) || parseFieldKey(key).kind === 'address';
}

type Step = { kind: 'set' | 'adopt'; planned: PlannedValue } | 'remove' | undefined;

function stepFor(key: FieldKey, field: PlannedField, input: PlanInput): Step {
  const applied = input.applied[key];
  switch (field.kind) {
    case 'value':
      return stepForValue(key, field, input);
    case 'unresolved':
      if (applied && isEqualJson(applied.source, field.source)) return undefined;
      return isRemovable(key, input) ? 'remove' : undefined;
    case 'kept':
      return undefined;
    case 'putBack':
      return stepToPutBack(key, field.value, input);
    case 'absent':
      return isRemovable(key, input) ? 'remove' : undefined;
  }
}

function stepForValue(key: FieldKey, { value, source }: PlannedValue, input: PlanInput): Step {
  const entry = input.applied[key];
  const applied = entry?.unsure ? undefined : entry;
  const planned = { value, source };
  // Compare with the value sent, because the travel API may spell its answer differently.
  if (applied && isEqualJson(applied.sent, value))
    return isEqualJson(applied.source, source) ? undefined : { kind: 'adopt', planned };
  if (isRefused(key, value, input)) return undefined;
  const { observed, rules } = input;
  const isPresent = !applied && observed && hasValue(observed, { key, wanted: value, rules });
  return { kind: isPresent ? 'adopt' : 'set', planned };
}

function stepToPutBack(key: FieldKey, value: Json, input: PlanInput): Step {
  const { observed, rules } = input;
  if (!observed || isRefused(key, value, input)) return undefined;
  if (value === null) return readField(observed, key) === undefined ? undefined : 'remove';
  const isDone = hasValue(observed, { key, wanted: value, rules });
  return isDone ? undefined : { kind: 'set', planned: { value, source: null } };
}

function isRemovable(key: FieldKey, input: PlanInput): boolean {
  return key in input.applied && !requiredKeys.includes(key) && !isRefused(key, null, input);
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
 * Returns the fields that the bridge owns after the plan was carried out, with the values of the travel API's response. `observed` is the
 * traveler from which the plan was made, if that is another one.
 */
export function toAppliedFields(
  applied: AppliedFields,
  { set, adopt, remove, released }: Plan,
  answer: TravelUser,
  observed = answer,
): AppliedFields {
  const notOwned = [...remove, ...released];
  const owned: AppliedFields = Object.fromEntries(
    Object.entries(applied).filter(([key]) => !notOwned.includes(key)),
  );
  for (const [key, { value, source }] of Object.entries({ ...set, ...adopt })) {
    if (notOwned.includes(key)) continue;
    const shown = readField(answer, key) ?? null;
    const answered = key in adopt ? adoptedValue(key, { shown, observed, entry: applied[key] }) : shown;
    const read = applied[key]?.read;
    const isKnown = read !== undefined && isEqualJson(applied[key]?.answered, answered);
    owned[key] = { sent: value, answered, ...(isKnown ? { read } : {}), source };
    if (key in adopt && isPreexisting(applied[key], value)) owned[key].preexisting = true;
  }
  return owned;
}

/**
 * Returns the value with which later ones are compared. An adopted value is not sent: if the response shows another one, somebody has changed
 * it since it was sent or read, and that is drift.
 */
function adoptedValue(
  key: FieldKey,
  { shown, observed, entry }: { shown: Json; observed: TravelUser; entry: AppliedField | undefined },
): Json {
  const isSent = entry !== undefined && entry.unsure !== true;
  const known = isSent ? entry.answered : (readField(observed, key) ?? null);
  return isDrift(key, { answered: known, read: entry?.read }, shown) ? known : shown;
}

/** True for an adopted value that the bridge has not set itself: the traveler had it before. */
function isPreexisting(applied: AppliedField | undefined, value: Json): boolean {
  return applied === undefined || (applied.preexisting === true && isEqualJson(applied.sent, value));
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

/** Finds the owned fields whose values differ from the travel API's response: they were changed in the travel service. */
export function findDrift(applied: AppliedFields, observed: TravelUser): Finding[] {
  return Object.entries(applied).flatMap(([key, entry]) => {
    const now = readField(observed, key) ?? null;
    const { answered, unsure } = entry;
    if (unsure || !isDrift(key, entry, now)) return [];
    return [
      {
        field: key,
        code: 'drift',
        value: withVisibleCharacters(now),
        reason: `Somebody changed this in the travel service; the identity provider wants ${JSON.stringify(withVisibleCharacters(answered))}.`,
        remedy: 'Change it in the identity provider instead, or have drift corrected (policy drift).',
      },
    ];
  });
}

/** True if the traveler shows a value of an owned field that is neither the answer nor another spelling of it. */
export function isDrift(
  key: FieldKey,
  { answered, read }: { answered: Json; read?: Json | undefined },
  shown: Json,
): boolean {
  return !areSameSpellings(key, shown, answered) && !isEqualJson(shown, read);
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
