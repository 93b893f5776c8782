import { isObject, type Json } from '../schema/resource.ts';
import { readCountry } from './countries.ts';
import type { PlainField } from './fields.ts';
import { readReference } from './references.ts';
import type { AppliedField } from './result.ts';
import type { Lookups, Named } from './snapshot.ts';
import {
  readBoolean,
  readCurrency,
  readDate,
  readEmail,
  readGender,
  readLanguage,
  readPhone,
  readStreet,
  readText,
} from './value-readers.ts';
import {
  type Fault,
  missed,
  type Reader,
  type Reading,
  same,
  textOf,
  unresolved,
  unusable,
} from './values.ts';

/** A kind of named thing that travelers refer to. */
interface Kind {
  field: 'costCenterId' | 'billingProfileId' | 'travelPolicyId';
  noun: string;
  among: (lookups: Lookups) => Named[];
}

/** A cost center, by id or exact name. */
export const readCostCenter = readerOf({
  field: 'costCenterId',
  noun: 'cost center',
  among: (all) => all.costCenters,
});

/** A billing profile, by id or exact name. */
export const readBillingProfile = readerOf({
  field: 'billingProfileId',
  noun: 'billing profile',
  among: (all) => all.billingProfiles,
});

/** A travel policy, by id or exact name. */
export const readTravelPolicy = readerOf({
  field: 'travelPolicyId',
  noun: 'travel policy',
  among: (all) => all.travelPolicies,
});

/**
 * Finds a named thing. What was found once sticks to its source value until it is gone: that its name is now another's,
 * or nobody's, moves no traveler.
 */
function readerOf({ field, noun, among }: Kind): Reader {
  return (raw, { lookups, applied }) => {
    const things = among(lookups);
    const reading = find(raw, things, noun);
    const before = applied[field];
    if (!before || !same(before.source, raw)) return reading;
    if ('value' in reading && reading.value === before.sent) return reading;
    if (things.some(({ id }) => id === before.sent)) return { value: before.sent };
    return 'value' in reading ? reading : gone(reading.fault, before, noun);
  };
}

function find(raw: Json, things: Named[], noun: string): Reading {
  const { id, name } = isObject(raw)
    ? { id: textOf(raw.id), name: textOf(raw.name) }
    : { id: textOf(raw), name: undefined };
  if (id === undefined) return name === undefined ? unreadableName(noun) : byName(name, things, noun);
  const found = things.find((thing) => thing.id === id);
  // A bare value may be an id or a name.
  if (!found) return isObject(raw) ? unknownThing(noun) : byName(id, things, noun);
  if (name === undefined || found.name === name) return { value: id };
  return { value: id, note: contradiction(noun, found) };
}

function byName(name: string, things: Named[], noun: string): Reading {
  const found = things.filter((thing) => thing.name === name);
  const active = found.filter(({ archived }) => !archived);
  const [only] = active;
  if (only && active.length === 1) return { value: only.id };
  if (active.length > 1) {
    const reason = `Several ${noun}s of the travel service have this name.`;
    return unresolved(
      `${code(noun)}Ambiguous`,
      reason,
      `Rename all but one of them, or name the ${noun} by its id.`,
    );
  }
  if (found.length === 0) return unknownThing(noun);
  const reason = `The ${noun} of this name is archived.`;
  return unresolved(
    `${code(noun)}Archived`,
    reason,
    `Restore the ${noun} in the travel service, or name another.`,
  );
}

function unreadableName(noun: string): Reading {
  return unusable(
    `${code(noun)}Unreadable`,
    `This does not name a ${noun}.`,
    `Give the id or the name of a ${noun}.`,
  );
}

function unknownThing(noun: string): Reading {
  const reason = `The travel service has no such ${noun}.`;
  const remedy = `Create the ${noun} in the travel service, or correct the value in the identity provider.`;
  return missed(`${code(noun)}Unknown`, reason, remedy);
}

function contradiction(noun: string, { name }: Named): Fault {
  return unusable(
    `${code(noun)}Contradiction`,
    `The ${noun} of this id is called "${name}"; the id was followed, not the name.`,
    'Correct the id or the name in the identity provider.',
  ).fault;
}

function gone(fault: Fault, { sent }: AppliedField, noun: string): Reading {
  const reason = `The ${noun} ${String(sent)} that this value meant before is gone. ${fault.reason}`;
  return { fault: { ...fault, kind: 'unusable', reason } };
}

/** `cost center` → `costCenter`. */
function code(noun: string): string {
  return noun.replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** How each field reads a SCIM value, whichever rule it comes from. */
export const readers = {
  email: readEmail,
  firstName: readText,
  lastName: readText,
  phoneNumber: readPhone,
  lang: readLanguage,
  'address.streetAddress': readStreet,
  'address.city': readText,
  'address.region': readText,
  'address.postalCode': readText,
  'address.countryCode': readCountry,
  managerId: readReference,
  costCenterId: readCostCenter,
  billingProfileId: readBillingProfile,
  travelPolicyId: readTravelPolicy,
  dateOfBirth: readDate,
  gender: readGender,
  currency: readCurrency,
  separateIcsEmails: readBoolean,
} satisfies Record<PlainField, Reader>;
