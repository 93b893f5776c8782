import type { Identity } from '../../model/identity.ts';
import type { Json } from '../../schema/resource.ts';

/** Returns the names by which IdPs and the travel service search for a person: userName, externalId, addresses and travel id. */
export function searchedNames(identity: Identity): string[] {
  const { desired, travelId } = identity;
  const { userName, externalId, emails } = desired;
  return nonEmptyTexts(
    userName,
    externalId,
    travelId,
    ...elementValues(emails),
    ...travelAddresses(identity),
  );
}

/** Returns the addresses that the travel service has received or may have received. */
export function travelAddresses({ observed, creating, applied }: Identity): string[] {
  const sent = [applied.email?.sent, applied.email?.seen, applied.email?.source];
  return nonEmptyTexts(observed?.email, creating?.email, ...sent);
}

/** Returns the values of a multi-valued attribute. */
export function elementValues(list: Json | undefined): (Json | undefined)[] {
  return Array.isArray(list) ? list.map((one) => (isObject(one) ? one.value : one)) : [];
}

export function nonEmptyTexts(...values: (Json | undefined)[]): string[] {
  return values.filter((value) => typeof value === 'string').filter((text) => text !== '');
}

function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
