import type { Standing } from './expected-fields.ts';
import type { CurrentUser, Person } from './identity-providers.ts';
import { type ScopeVerdict, scopeOf } from './mappings.ts';
import type { HistoryRecord } from './record.ts';
import { groupsOf, type StatedGroups } from './stated-groups.ts';

/** What the groups say of a user, under the mapping in force. */
export function standingOf(
  user: CurrentUser | undefined,
  { rules, groups: stated }: Pick<HistoryRecord, 'rules' | 'groups'>,
): Standing {
  if (!user) return { groups: [], scope: 'in' };
  const groups = groupsOf(stated, user);
  const isKnown = (name: string) =>
    stated.groups.some(
      ({ connection, displayName }) =>
        connection === user.connection && displayName.toLowerCase() === name.toLowerCase(),
    );
  const scope = scopeOf(rules.mapping)?.judge({ ...user.wanted, groups }, isKnown) ?? 'in';
  return { groups, scope };
}

/** Notes other groups, and each person whom they concern. A write that is not answered yet may have been followed under the groups before. */
export function recordGroups(record: HistoryRecord, people: readonly Person[], next: StatedGroups): void {
  const before = people.map(({ current }) => JSON.stringify(standingOf(current, record)));
  const underWay = people.flatMap(({ index, current, unanswered }) => {
    const user = current && unanswered?.wanted && { ...current, wanted: unanswered.wanted };
    return user ? [{ index, user, standing: standingOf(user, record) }] : [];
  });
  record.groups = next;
  for (const { index, user, standing } of underWay)
    if (JSON.stringify(standingOf(user, record)) !== JSON.stringify(standing))
      record.events.push({ kind: 'standing', person: index, wanted: user.wanted, standing });
  for (const [place, { index, current }] of people.entries()) {
    const standing = standingOf(current, record);
    if (current && JSON.stringify(standing) !== before[place])
      record.events.push({ kind: 'standing', person: index, wanted: current.wanted, standing });
  }
}

/** What the scope says of a person. Departures do not ask for it. */
export function scopeOfPerson({ current }: Person, record: HistoryRecord): ScopeVerdict {
  return current?.wanted.active ? standingOf(current, record).scope : 'in';
}

/** What the scope has said of a person at the last check, under the rules of now and each of those in force since, and at each moment since. */
export function scopesSince({ index, current }: Person, record: HistoryRecord): ScopeVerdict[] {
  const { events, rules, rulesSince, statedBefore } = record;
  const first = statedBefore.users.get(index);
  const { groups } = statedBefore;
  // Rules that were in force for a moment only may have been followed.
  const underAll = [...rulesSince.slice(0, -1), rules];
  const later = events.filter((event) => event.kind === 'write' || event.kind === 'standing');
  return [
    ...(first ? underAll.map((under) => standingOf(first, { rules: under, groups }).scope) : []),
    ...later.filter(({ person }) => person === index).map(({ standing }) => standing.scope),
    ...(current ? [standingOf(current, record).scope] : []),
  ];
}

/** True if an admin has discarded another scope: people may be as the one before has them, until the IdP writes them. */
export function isScopeDiscarded({ areRulesDiscarded, undecided }: HistoryRecord): boolean {
  return areRulesDiscarded && undecided.has('scope');
}
