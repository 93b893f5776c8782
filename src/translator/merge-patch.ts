import type { Json, JsonObject } from '../schema/resource.ts';
import { bareValues, placeOf } from './fields.ts';
import type { FieldKey } from './result.ts';
import type { TravelUser } from './travel-user.ts';

/**
 * Changes by key as one merge patch (RFC 7396), null for a removal. An array is replaced as a whole, so it carries the
 * elements of `current` that are not changed; of custom fields only what may be written.
 */
export function mergePatch(changes: Record<FieldKey, Json>, current: TravelUser | undefined): JsonObject {
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
  if (customFields.size > 0) body.customFields = customFieldsArray(customFields, current);
  if (roles.size > 0) body.roles = rolesArray(roles, current);
  return body;
}

/** An address of which nothing is left goes as a whole. */
function addressPatch(parts: JsonObject, current: TravelUser | undefined): Json {
  if (!current) return parts;
  const left = Object.entries({ ...current.address, ...parts }).filter(([, value]) => value !== null);
  return left.length === 0 ? null : parts;
}

function customFieldsArray(changes: Map<string, Json>, current: TravelUser | undefined): Json[] {
  const held = current?.customFields ?? [];
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
