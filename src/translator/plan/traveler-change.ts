import type { FieldKey, Plan } from '../../model/translation.ts';
import type { CustomFieldValue, TravelerChange, TravelUser } from '../../model/traveler.ts';
import type { Json, JsonObject } from '../../schema/resource.ts';
import { isEqualJson } from '../values/values.ts';
import { parseFieldKey, toWritableValues } from './traveler.ts';

/** Returns the change of a plan. Lists repeat the elements of `current` that the bridge does not own, except `omit`. */
export function toTravelerChange(
  { set, remove }: Plan,
  current: TravelUser | undefined,
  omit: readonly CustomFieldValue[] = [],
): TravelerChange {
  const values: Record<FieldKey, Json> = Object.fromEntries(remove.map((key) => [key, null]));
  for (const [key, { value }] of Object.entries(set)) values[key] = value;
  return changeOf(values, current, omit);
}

/** Returns the fields of a new traveler. `archived` is among them only if it is true, because false is the default. */
export function toNewTraveler({ set }: Plan): TravelerChange {
  const values = Object.entries(set).map(([key, { value }]) => [key, value] as const);
  return changeOf(
    Object.fromEntries(values.filter(([key, value]) => key !== 'archived' || value === true)),
    undefined,
    [],
  );
}

function changeOf(
  values: Record<FieldKey, Json>,
  current: TravelUser | undefined,
  omit: readonly CustomFieldValue[],
): TravelerChange {
  const change: TravelerChange = {};
  const address: JsonObject = {};
  const preferences = new Map<string, Json>();
  const customFields = new Map<string, Json>();
  const roles = new Map<string, Json>();
  for (const [key, value] of Object.entries(values)) {
    const path = parseFieldKey(key);
    if (path.kind === 'field') change[path.name] = value;
    else if (path.kind === 'address') address[path.part] = value;
    else if (path.kind === 'preference') preferences.set(path.name, value);
    else if (path.kind === 'customField') customFields.set(path.id, value);
    else roles.set(path.value, value);
  }
  if (Object.keys(address).length > 0) change.address = addressChange(address, current);
  if (preferences.size > 0) change.travelerPrefs = Object.fromEntries(preferences);
  if (customFields.size > 0)
    change.customFields = customFieldsAfter(customFields, withoutValues(current?.customFields ?? [], omit));
  if (roles.size > 0) change.roles = rolesAfter(roles, current);
  return change;
}

/** Removes the address whole if no part is left. */
function addressChange(parts: JsonObject, current: TravelUser | undefined): JsonObject | null {
  if (!current) return parts;
  const left = Object.entries({ ...current.address, ...parts }).filter(([, value]) => value !== null);
  return left.length === 0 ? null : parts;
}

function customFieldsAfter(
  changes: Map<string, Json>,
  held: CustomFieldValue[],
): { customFieldId: string; values: Json }[] {
  const merged = new Map<string, Json>(held.map((field) => [field.customFieldId, toWritableValues(field)]));
  for (const [id, values] of changes) {
    if (values === null) merged.delete(id);
    else merged.set(id, values);
  }
  return [...merged].map(([customFieldId, values]) => ({ customFieldId, values }));
}

function rolesAfter(changes: Map<string, Json>, current: TravelUser | undefined): string[] {
  const merged = new Set(current?.roles ?? []);
  for (const [role, value] of changes) {
    if (value === null) merged.delete(role);
    else merged.add(role);
  }
  return [...merged];
}

function withoutValues(held: CustomFieldValue[], omit: readonly CustomFieldValue[]): CustomFieldValue[] {
  return held.flatMap((field) => {
    const omitted = omit.filter(({ customFieldId }) => customFieldId === field.customFieldId);
    if (omitted.length === 0) return [field];
    const remaining = field.values.filter(
      (value) => !omitted.some(({ values }) => values.some((other) => isEqualJson(other, value))),
    );
    return remaining.length > 0 ? [{ ...field, values: remaining }] : [];
  });
}
