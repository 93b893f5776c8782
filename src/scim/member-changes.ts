import type { Member, MemberChange } from '../bridge/ports.ts';

/** What becomes of those whom the steps name: `cleared` are no members first, then `added` are, in their order. */
interface Net {
  /** Whether everybody else leaves as well. */
  isAll: boolean;
  cleared: Set<string>;
  added: Map<string, Member>;
}

/**
 * What any number of steps on members come to, in at most two: some clients send an operation for every member, and each
 * step costs the store a statement or more.
 */
export function netChanges(changes: MemberChange[]): MemberChange[] {
  const net: Net = { isAll: false, cleared: new Set(), added: new Map() };
  for (const change of changes) take(net, change);
  const members = [...net.added.values()];
  if (net.isAll) return [{ kind: 'replace', members }];
  return [
    ...(net.cleared.size > 0 ? [{ kind: 'remove' as const, values: [...net.cleared] }] : []),
    ...(members.length > 0 ? [{ kind: 'add' as const, members }] : []),
  ];
}

function take(net: Net, change: MemberChange): void {
  switch (change.kind) {
    case 'add':
      for (const member of change.members) {
        // Who is a member already stays as added first.
        if (!net.added.has(member.value)) net.added.set(member.value, member);
      }
      return;
    case 'remove':
      for (const value of change.values) {
        net.added.delete(value);
        net.cleared.add(value);
      }
      return;
    case 'replace':
      net.isAll = true;
      net.added.clear();
      take(net, { kind: 'add', members: change.members });
  }
}
