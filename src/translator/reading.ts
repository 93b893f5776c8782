import type { Json } from '../schema/resource.ts';
import type { Applied } from './result.ts';
import type { Lookups, Reference } from './snapshot.ts';

/** Why a SCIM value was left out, in words for an admin. */
export interface Fault {
  code: string;
  reason: string;
  remedy: string;
  /** `unresolved`: it may be found later, so that what was applied stays while the value does. */
  kind: 'unusable' | 'unresolved';
  /** Fresher lookups may know it. */
  missed?: boolean;
  /** The place in the mapping that is at fault. Such a fault never removes a value. */
  mappingPath?: string;
}

/**
 * What a reader makes of one SCIM value: a travel value, perhaps with a word about it, or why there is none. A value that
 * the mapping itself names has the place where it stands.
 */
export type Reading = { value: Json; note?: Fault; mappingPath?: string } | { fault: Fault };

/** What reading a value may depend on besides the value. */
export interface Context {
  lookups: Lookups;
  references: ReadonlyMap<string, Reference>;
  /** What was sent before: an id that was resolved once sticks to its source value. */
  applied: Applied;
  /** Countries whose national way of writing a phone number may be meant, the likeliest first. */
  phoneCountries: string[];
}

/** Turns one SCIM value into a travel value. */
export type Reader = (raw: Json, context: Context) => Reading;

/** A fault in a value that cannot be used as it is. */
export function unusable(code: string, reason: string, remedy: string): { fault: Fault } {
  return { fault: { kind: 'unusable', code, reason, remedy } };
}

/** A fault in a value that refers to something which is not there, or not yet. */
export function unresolved(code: string, reason: string, remedy: string): { fault: Fault } {
  return { fault: { kind: 'unresolved', code, reason, remedy } };
}

/** A reference to something that fresher lookups may know. */
export function missed(code: string, reason: string, remedy: string): { fault: Fault } {
  return { fault: { kind: 'unresolved', code, reason, remedy, missed: true } };
}

/** The two faults of a manager that say nothing against the mapping which names one for everybody. */
const personalFaults = ['managerSelf', 'managerCircle'];

/** A fault in a value that the mapping itself names, or in the target of a rule, with the place to mend. */
export function faultOfMapping(fault: Fault, mappingPath: string, remedy = `Correct ${mappingPath}.`): Fault {
  if (personalFaults.includes(fault.code)) return fault;
  return {
    ...fault,
    reason: `The mapping is at fault (${mappingPath}). ${fault.reason}`,
    remedy: `${remedy} Until then the field stays as it is.`,
    mappingPath,
  };
}
