import { type Json, type JsonObject, type ScimResource, urns } from '../schema/resource.ts';
import { mappedBack } from './mapped-back.ts';
import { roleName } from './roles.ts';
import type { Rules } from './rules.ts';
import type { Lookups, Named } from './snapshot.ts';
import type { TravelUser } from './travel-user.ts';

/**
 * The SCIM user that a traveler who was there before any IdP is shown as. Translated again it wants nothing else of that
 * traveler: whoever is found here by an IdP stays as they are until it writes something.
 */
export function toScim(rules: Rules, traveler: TravelUser, { lookups }: { lookups: Lookups }): ScimResource {
  const user = withoutGaps({
    userName: traveler.email,
    name: { givenName: traveler.firstName, familyName: traveler.lastName },
    displayName:
      [traveler.firstName, traveler.lastName].filter((part) => part !== undefined).join(' ') || undefined,
    active: !traveler.archived,
    preferredLanguage: traveler.lang,
    emails: [{ value: traveler.email, type: 'work', primary: true }],
    // Of the types that count, the one that a number from the IdP replaces or outranks.
    phoneNumbers: traveler.phoneNumber && [{ value: traveler.phoneNumber, type: 'work', primary: true }],
    addresses: addressesOf(traveler),
    [urns.travel]: extensionOf(traveler, rules, lookups),
  });
  return mappedBack(rules, user, { traveler, lookups });
}

type Sparse = Json | undefined | Sparse[] | { [name: string]: Sparse };

function addressesOf({ address = {} }: TravelUser): Sparse {
  const { streetAddress, city, region, postalCode, countryCode } = address;
  const parts = { streetAddress, locality: city, region, postalCode, country: countryCode };
  const isEmpty = Object.values(parts).every((part) => part === undefined);
  return isEmpty ? undefined : [{ ...parts, type: 'work', primary: true }];
}

function extensionOf(traveler: TravelUser, { mapping }: Rules, lookups: Lookups): Sparse {
  return {
    billingProfile: named(traveler.billingProfileId, lookups.billingProfiles),
    costCenter: named(traveler.costCenterId, lookups.costCenters),
    travelPolicy: named(traveler.travelPolicyId, lookups.travelPolicies),
    manager: { id: traveler.managerId },
    dateOfBirth: traveler.dateOfBirth,
    gender: traveler.gender,
    currency: traveler.currency,
    separateIcsEmails: traveler.separateIcsEmails,
    roles: traveler.roles?.map((role) => ({ value: roleName(role, mapping) })),
  };
}

function named(id: string | undefined, things: Named[]): Sparse {
  return { id, name: things.find((thing) => thing.id === id)?.name };
}

/** Without what has no value, as unassigned attributes are not there (RFC 7643 §2.5). */
function withoutGaps(object: { [name: string]: Sparse }): JsonObject {
  const filled: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    const kept = withoutGap(value);
    if (kept !== undefined) filled[name] = kept;
  }
  return filled;
}

function withoutGap(value: Sparse): Json | undefined {
  if (value === '' || value === null || typeof value !== 'object') return value === '' ? undefined : value;
  if (!Array.isArray(value)) {
    const object = withoutGaps(value);
    return Object.keys(object).length > 0 ? object : undefined;
  }
  const elements = value.map(withoutGap).filter((element) => element !== undefined);
  return elements.length > 0 ? elements : undefined;
}
