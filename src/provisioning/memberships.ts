import type { Membership } from './identity.ts';
import type { Groups, MemberChange, Runtime } from './ports.ts';

interface Deps {
  groups: Pick<Groups, 'byId' | 'change'>;
  runtime: Pick<Runtime, 'wallClock'>;
}

/** Changes the members of each of these groups that still exists; `change` says how. */
export async function changeGroups(
  { groups, runtime }: Deps,
  connection: string,
  { memberships, change }: { memberships: Membership[]; change: (membership: Membership) => MemberChange },
): Promise<void> {
  for (const membership of memberships) {
    for (let outcome = 'stale'; outcome === 'stale'; ) {
      const group = await groups.byId(connection, membership.group);
      if (!group) break;
      const after = { ...group, version: group.version + 1, lastModified: runtime.wallClock() };
      outcome = await groups.change(after, group.version, {
        attributes: group.attributes,
        members: [change(membership)],
      });
    }
  }
}
