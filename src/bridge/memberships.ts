import type { Groups, MemberChange, Surroundings } from './ports.ts';

interface Deps {
  groups: Pick<Groups, 'byId' | 'change' | 'groupsOf'>;
  surroundings: Pick<Surroundings, 'wallClock'>;
}

/** The groups that a user is a member of, by id. */
export async function groupIdsOf({ groups }: Deps, connection: string, userId: string): Promise<string[]> {
  const found = await groups.groupsOf(connection, [userId]);
  return (found.get(userId) ?? []).map(({ value }) => value);
}

/** Makes one change to the members of each of these groups that still exists. */
export async function changeGroups(
  { groups, surroundings }: Deps,
  connection: string,
  { groupIds, change }: { groupIds: string[]; change: MemberChange },
): Promise<void> {
  for (const id of groupIds) {
    for (let outcome = 'stale'; outcome === 'stale'; ) {
      const group = await groups.byId(connection, id);
      if (!group) break;
      const after = { ...group, version: group.version + 1, lastModified: surroundings.wallClock() };
      outcome = await groups.change(after, group.version, {
        attributes: group.attributes,
        members: [change],
      });
    }
  }
}
