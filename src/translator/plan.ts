import { isObject, type Json, type JsonObject } from '../schema/resource.ts';
import { isSetByRules, type Rules } from './rules.ts';
import type {
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
  parseFieldKey,
  readField,
  type TravelUser,
  toWritableValues,
} from './traveler.ts';
import { isEqualJson } from './values.ts';

/** A value that becomes ours, and the SCIM value that it came from. */
interface PlannedValue {
  value: Json;
  source: Json;
}

/** What must happen for a traveler to be as wanted. */
export interface Plan {
  /** Sent. */
  set: Record<FieldKey, PlannedValue>;
  /** Ours from now on without a call: the traveler has the value already. */
  adopt: Record<FieldKey, PlannedValue>;
  /** Taken from the traveler. */
  remove: FieldKey[];
  /** Ours no longer: no rule targets it, and its value stays. */
  released: FieldKey[];
  /**
   * The traveler must be read right before this is sent: an array is replaced whole, so that its foreign elements are
   * carried along; the last removed part of an address takes the address with it; and whether somebody administers the
   * travel service or was archived by hand decides about email, roles and archived.
   */
  needsFreshRead: boolean;
}

/** Everything that a plan rests on. */
export interface PlanInput {
  applied: AppliedFields;
  refused: RefusedFields;
  wanted: Record<FieldKey, WantedField>;
  /** The traveler as last seen, when there is one. */
  observed: TravelUser | undefined;
  /** True: the traveler becomes somebody else's, so a field that no rule targets goes, too. */
  isReset?: boolean;
  /** The version of rules and lookups: what was refused under the same is not sent again. */
  basis: string;
  rules: Rules;
}

/** Fields that a traveler always has. */
const lasting = ['email', 'archived'];

/** Nothing to send. */
export const emptyPlan: Plan = { set: {}, adopt: {}, remove: [], released: [], needsFreshRead: false };

/** The three-way merge of what was sent, what is wanted and what was observed. */
export function makePlan(situation: PlanInput): Plan {
  const { applied, wanted, rules } = situation;
  const set: Plan['set'] = {};
  const adopt: Plan['adopt'] = {};
  const remove: FieldKey[] = [];
  for (const [key, field] of Object.entries(wanted)) {
    const step = stepFor(key, field, situation);
    if (step === 'remove') remove.push(key);
    else if (step && step.kind === 'set') set[key] = step.planned;
    else if (step) adopt[key] = step.planned;
  }
  const unspoken = Object.keys(applied).filter((key) => !(key in wanted));
  const isTargeted = (key: FieldKey) => situation.isReset === true || isSetByRules(rules, key);
  const gone = unspoken.filter((key) => isTargeted(key) && isRemovable(key, situation));
  const released = unspoken.filter((key) => !isTargeted(key));
  const away = [...remove, ...gone];
  const needsFreshRead = Object.keys(set).some(needsReadToSet) || away.some(needsReadToRemove);
  return { set, adopt, remove: away, released, needsFreshRead };
}

function needsReadToSet(key: FieldKey): boolean {
  return isElement(key) || lasting.includes(key);
}

function needsReadToRemove(key: FieldKey): boolean {
  return isElement(key) || parseFieldKey(key).kind === 'address';
}

type Step = { kind: 'set' | 'adopt'; planned: PlannedValue } | 'remove' | undefined;

function stepFor(key: FieldKey, field: WantedField, situation: PlanInput): Step {
  const applied = situation.applied[key];
  switch (field.kind) {
    case 'value':
      return stepForValue(key, field, situation);
    case 'unresolved':
      if (applied && isEqualJson(applied.source, field.source)) return undefined;
      return isRemovable(key, situation) ? 'remove' : undefined;
    case 'kept':
      return undefined;
    case 'absent':
      return isRemovable(key, situation) ? 'remove' : undefined;
  }
}

function stepForValue(key: FieldKey, { value, source }: PlannedValue, situation: PlanInput): Step {
  const entry = situation.applied[key];
  const applied = entry?.unsure ? undefined : entry;
  const planned = { value, source };
  // Compared with what was sent: the travel API may spell it its own way.
  if (applied && isEqualJson(applied.sent, value))
    return isEqualJson(applied.source, source) ? undefined : { kind: 'adopt', planned };
  if (isRefused(key, value, situation)) return undefined;
  const { observed, rules } = situation;
  const isThere = !applied && observed && hasValue(observed, { key, wanted: value, rules });
  return { kind: isThere ? 'adopt' : 'set', planned };
}

function isRemovable(key: FieldKey, situation: PlanInput): boolean {
  return key in situation.applied && !lasting.includes(key) && !isRefused(key, null, situation);
}

function isRefused(key: FieldKey, value: Json, { refused, basis }: PlanInput): boolean {
  const before = refused[key];
  return before !== undefined && before.basis === basis && isEqualJson(before.value, value);
}

function isElement(key: FieldKey): boolean {
  const { kind } = parseFieldKey(key);
  return kind === 'customField' || kind === 'role';
}

/** True when there is nothing to send. */
export function isEmptyPlan({ set, remove }: Plan): boolean {
  return Object.keys(set).length === 0 && remove.length === 0;
}

/** The body of the patch (RFC 7396), with the foreign elements of the arrays that it replaces. */
export function toPatchBody(
  { set, remove }: Plan,
  current: TravelUser | undefined,
  omit: readonly CustomFieldValue[] = [],
): JsonObject {
  const changes: Record<FieldKey, Json> = Object.fromEntries(remove.map((key) => [key, null]));
  for (const [key, { value }] of Object.entries(set)) changes[key] = value;
  return mergePatch(changes, current, omit);
}

/** The body of the create: every planned value. `archived` only where the user starts inactive. */
export function toCreateBody({ set }: Plan): JsonObject {
  const values = Object.entries(set).map(([key, { value }]) => [key, value] as const);
  return mergePatch(
    Object.fromEntries(values.filter(([key, value]) => key !== 'archived' || value === true)),
    undefined,
  );
}

/** The fields that are ours after a plan was carried out, with what the travel API answered. */
export function toAppliedFields(
  applied: AppliedFields,
  { set, adopt, remove, released }: Plan,
  answer: TravelUser,
): AppliedFields {
  const left = [...remove, ...released];
  const kept: AppliedFields = Object.fromEntries(
    Object.entries(applied).filter(([key]) => !left.includes(key)),
  );
  for (const [key, { value, source }] of Object.entries({ ...set, ...adopt })) {
    kept[key] = { sent: value, answered: readField(answer, key) ?? null, source };
  }
  return kept;
}

/**
 * The planned fields that the `invalid` list of an answer names. An element of an array is named by its key, or by its
 * index in the body that was sent; without that body, or where that element is not of the plan, all planned ones are meant.
 */
export function findInvalidFields(names: string[], { set, remove }: Plan, body?: JsonObject): FieldKey[] {
  const planned = [...Object.keys(set), ...remove];
  return planned.filter((key) => names.some((name) => isNamed(key, name, { planned, body })));
}

function isNamed(
  key: FieldKey,
  name: string,
  sent: { planned: FieldKey[]; body: JsonObject | undefined },
): boolean {
  const [head = '', index = ''] = name.split(/[.[\]]+/);
  if (key === name || key.startsWith(`${name}.`)) return true;
  if (!isElement(key) || !key.startsWith(`${head}.`)) return name.startsWith(`${key}.`);
  // A custom field that is asked for and was not sent: no fault of those that were.
  if (!isIndex.test(index) && !sent.planned.includes(`${head}.${index}`)) return false;
  const element = elementKey(head, index, sent.body);
  return element !== undefined && sent.planned.includes(element) ? element === key : true;
}

/** No longer, as an id may be of digits alone. */
const isIndex = /^\d{0,6}$/;

function elementKey(head: string, index: string, body: JsonObject | undefined): FieldKey | undefined {
  const array = body?.[head];
  const element = Array.isArray(array) ? array[Number(index)] : undefined;
  if (typeof element === 'string') return `${head}.${element}`;
  if (typeof element !== 'object' || element === null || Array.isArray(element)) return `${head}.${index}`;
  return typeof element.customFieldId === 'string' ? `${head}.${element.customFieldId}` : undefined;
}

/** Where a traveler no longer is as the travel API answered: somebody changed it there. */
export function findDrift(applied: AppliedFields, observed: TravelUser): Finding[] {
  return Object.entries(applied).flatMap(([key, { answered, unsure }]) => {
    const now = readField(observed, key) ?? null;
    if (unsure || isEqualJson(now, answered)) return [];
    return [
      {
        field: key,
        code: 'drift',
        value: now,
        reason: `Somebody changed this in the travel service; the identity provider wants ${JSON.stringify(answered)}.`,
        remedy: 'Change it in the identity provider instead, or have drift corrected (policy drift).',
      },
    ];
  });
}

/**
 * Changes by key as one merge patch (RFC 7396), null for a removal. An array is replaced as a whole, so it carries the
 * elements of `current` that are not changed; of custom fields only what may be written, and without the values of `omit`.
 */
export function mergePatch(
  changes: Record<FieldKey, Json>,
  current: TravelUser | undefined,
  omit: readonly CustomFieldValue[] = [],
): JsonObject {
  const body: JsonObject = {};
  const address: JsonObject = {};
  const customFields = new Map<string, Json>();
  const roles = new Map<string, Json>();
  for (const [key, value] of Object.entries(changes)) {
    const place = parseFieldKey(key);
    if (place.kind === 'field') body[place.name] = value;
    else if (place.kind === 'address') address[place.part] = value;
    else if (place.kind === 'customField') customFields.set(place.id, value);
    else roles.set(place.value, value);
  }
  if (Object.keys(address).length > 0) body.address = addressPatch(address, current);
  if (customFields.size > 0)
    body.customFields = customFieldsArray(customFields, without(current?.customFields ?? [], omit));
  if (roles.size > 0) body.roles = rolesArray(roles, current);
  return body;
}

/** An address of which nothing is left goes as a whole. */
function addressPatch(parts: JsonObject, current: TravelUser | undefined): Json {
  if (!current) return parts;
  const left = Object.entries({ ...current.address, ...parts }).filter(([, value]) => value !== null);
  return left.length === 0 ? null : parts;
}

function customFieldsArray(changes: Map<string, Json>, held: CustomFieldValue[]): Json[] {
  const merged = new Map<string, Json>(held.map((field) => [field.customFieldId, toWritableValues(field)]));
  for (const [id, values] of changes) {
    if (values === null) merged.delete(id);
    else merged.set(id, values);
  }
  return [...merged].map(([customFieldId, values]) => ({ customFieldId, values }));
}

function rolesArray(changes: Map<string, Json>, current: TravelUser | undefined): Json[] {
  const merged = new Set(current?.roles ?? []);
  for (const [role, value] of changes) {
    if (value === null) merged.delete(role);
    else merged.add(role);
  }
  return [...merged];
}

function without(held: CustomFieldValue[], omit: readonly CustomFieldValue[]): CustomFieldValue[] {
  return held.flatMap((field) => {
    const gone = omit.filter(({ customFieldId }) => customFieldId === field.customFieldId);
    if (gone.length === 0) return [field];
    const left = field.values.filter(
      (value) => !gone.some(({ values }) => values.some((one) => isEqualJson(one, value))),
    );
    return left.length > 0 ? [{ ...field, values: left }] : [];
  });
}

/** A patch that was refused (422), and what it rested on. */
export interface RefusedPatch {
  /** The names in the `invalid` list of the answer. */
  names: string[];
  body: JsonObject;
  /** The keys that the patch was to change. */
  planned: FieldKey[];
  current: TravelUser | undefined;
  /** The custom fields as they are in the travel service now. */
  customFields: CustomField[];
}

/** What a refusal says of the custom field values that a patch only carried along. */
export interface Unsendable {
  /** Those that the travel API does not take back: their field or option is disabled, or is there no longer. */
  values: CustomFieldValue[];
  /** The names that mean something else. */
  names: string[];
  /** True when a name means a value that could be sent, as far as the custom fields are known. */
  isDoubtful: boolean;
}

/** Finds the values that the next patch must leave out. */
export function findUnsendableValues({
  names,
  body,
  planned,
  current,
  customFields,
}: RefusedPatch): Unsendable {
  const carried = (current?.customFields ?? []).filter(
    ({ customFieldId }) => !planned.includes(`customFields.${customFieldId}`),
  );
  const unsendable = carried.flatMap((field) => disabledPart(field, customFields));
  const meant = (name: string, among: CustomFieldValue[]) => {
    const ids = elementIds(name, body);
    return among.filter(({ customFieldId }) => ids.includes(customFieldId));
  };
  const others = names.filter((name) => meant(name, unsendable).length === 0);
  return {
    values: unsendable.filter((value) => names.some((name) => meant(name, unsendable).includes(value))),
    names: others,
    isDoubtful: others.some((name) => meant(name, carried).length > 0),
  };
}

/** The values of a field that cannot be assigned; all of them when the field itself cannot. */
function disabledPart(held: CustomFieldValue, customFields: CustomField[]): CustomFieldValue[] {
  const field = customFields.find(({ id }) => id === held.customFieldId);
  if (!field || field.disabled) return [held];
  const values = held.values.filter(({ customFieldOptionId }) => {
    const option = field.options.find(({ id }) => id === customFieldOptionId);
    return customFieldOptionId !== undefined && option?.disabled !== false;
  });
  return values.length > 0 ? [{ ...held, values }] : [];
}

/** The custom fields that a name of the `invalid` list means: by index in the body or by id; all when it names none. */
function elementIds(name: string, { customFields }: JsonObject): Json[] {
  const [head, element = ''] = name.split(/[.[\]]+/);
  if (head !== 'customFields' || !Array.isArray(customFields)) return [];
  const ids = customFields.map((one) => (isObject(one) ? (one.customFieldId ?? null) : null));
  if (element === '') return ids;
  return ids.includes(element) ? [element] : ids.filter((_, index) => String(index) === element);
}
