import type { ScimResource } from '../schema/resource.ts';
import type { Rules } from './rules.ts';
import type { Reference } from './snapshot.ts';
import { sourcesOf, valuesIn } from './sources.ts';
import { type Reader, textOf, unresolved, unusable } from './values.ts';

/** The values by which a user's manager is named, the preferred first: what the bridge must resolve before it translates. */
export function referencesOf(rules: Rules, user: ScimResource): string[] {
  const named = sourcesOf(rules, user, 'managerId').flatMap(valuesIn).map(textOf);
  return [...new Set(named.filter((raw) => raw !== undefined))];
}

/** A manager as the bridge resolved it. */
export const readReference: Reader = (raw, { references }) => {
  const reference = references.get(textOf(raw) ?? '') ?? { unresolved: 'unknown' };
  return 'travelId' in reference ? { value: reference.travelId } : failures[reference.unresolved];
};

const failures = {
  unknown: unresolved(
    'managerUnknown',
    'No user of this connection matches this manager.',
    'Provision the manager too, or correct the value; the manager is set by itself once that user is there.',
  ),
  notLinked: unresolved(
    'managerNotLinked',
    'The manager is known, but has no traveler yet.',
    'See the findings of the manager; the manager is set by itself once there is a traveler.',
  ),
  self: unusable(
    'managerSelf',
    'The user is named as their own manager.',
    'Name another manager in the identity provider.',
  ),
  circle: unusable(
    'managerCircle',
    'The chain of managers leads back to this user.',
    'Break the circle of managers in the identity provider.',
  ),
  gone: unusable('managerGone', 'The manager was deleted.', 'Name the new manager in the identity provider.'),
} satisfies Record<Extract<Reference, { unresolved: string }>['unresolved'], ReturnType<typeof unusable>>;
