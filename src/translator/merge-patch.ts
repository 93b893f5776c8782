import { isObject } from '../schema/own.ts';
import type { Json, JsonObject } from '../schema/resource.ts';
import { bareValues, placeOf } from './fields.ts';
import type { FieldKey } from './result.ts';
import { same } from './same.ts';
import type { CustomField } from './snapshot.ts';
import type { CustomFieldValue, TravelUser } from './travel-user.ts';

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
    const place = placeOf(key);
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
  const merged = new Map<string, Json>(held.map((field) => [field.customFieldId, bareValues(field)]));
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
      (value) => !gone.some(({ values }) => values.some((one) => same(one, value))),
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
export function unsendableValues({ names, body, planned, current, customFields }: RefusedPatch): Unsendable {
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
