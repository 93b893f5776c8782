import { findings } from '../../../model/findings.ts';
import type { CountedMembership } from '../../../model/group-ports.ts';
import type { Finding, Snapshot } from '../../../model/translation.ts';
import {
  groupsOfScope,
  groupTest,
  isNamedGroup,
  namesOneOf,
} from '../../../translator/rules/named-groups.ts';
import type { Rules } from '../../../translator/rules/rules.ts';
import { type Program, perform } from '../effects.ts';

/**
 * Finds the memberships of the identity in groups that the rules name: by equality if the group is gone. Undefined if they name none: nothing is
 * read then.
 */
export function* findNamedMemberships(rules: Rules): Program<CountedMembership[] | undefined> {
  const test = groupTest(rules);
  if (!test) return undefined;
  const isNamed = isNamedGroup(rules);
  const memberships = yield* perform('findMemberships');
  return memberships.filter((group) => test(group) && (!group.isGone || isNamed(group.display)));
}

/** Finds which expressions of the scope name a group that has not been received. Undefined if the scope names none: nothing is read then. */
export function* findUnknownGroups(rules: Rules): Program<Snapshot['namesUnknownGroup']> {
  const names = groupsOfScope(rules);
  return names.length === 0 ? undefined : namesOneOf(yield* perform('findUnknownGroups', names));
}

/** Returns a finding for each group of which the user counts as a member although it is gone. */
export function unresolvedGroupFindings(memberships: readonly CountedMembership[] = []): Finding[] {
  return memberships.flatMap(({ display, isGone }) => (isGone ? [findings.groupUnresolved(display)] : []));
}
