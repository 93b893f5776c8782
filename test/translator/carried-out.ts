import { isObject, type Json } from '../../src/schema/resource.ts';
import { type Plan, toPatchBody } from '../../src/translator/plan.ts';
import type { TravelUser } from '../../src/translator/traveler.ts';

/** The traveler after a plan was carried out, by a travel service that takes everything. */
export function carriedOut(plan: Plan, traveler: TravelUser): TravelUser {
  const before: Json = JSON.parse(JSON.stringify(traveler));
  // A merge of a traveler with fields of travelers is one.
  return merged(before, toPatchBody(plan, traveler)) as unknown as TravelUser;
}

/** JSON merge patch, word for word (RFC 7396 §2). */
function merged(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) result.delete(name);
    else result.set(name, merged(result.get(name), value));
  }
  return Object.fromEntries(result);
}
