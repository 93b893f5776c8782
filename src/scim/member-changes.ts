import type { Member, MemberChange } from '../bridge/ports.ts';
import { badRequest } from './scim-error.ts';

/**
 * One step of a PATCH on members. `substitute` puts the given members in the place of those with the values; at least one
 * of these must be a member (RFC 7644 §3.5.2.3).
 */
export type MemberStep =
  | Exclude<MemberChange, { kind: 'require' }>
  | { kind: 'substitute'; values: string[]; members: Member[] };

/** What the steps come to: `cleared` are removed first, then `added` are added, in their order. */
interface Net {
  /** Lists of values; of each at least one must be a member before the PATCH. */
  required: string[][];
  /** Whether everybody else leaves as well. */
  isAll: boolean;
  cleared: Set<string>;
  added: Map<string, Member>;
}

/**
 * What any number of steps on members come to, in at most three: some clients send an operation for every member, and
 * each step costs the store a statement or more.
 */
export function netChanges(steps: MemberStep[]): MemberChange[] {
  const net: Net = { required: [], isAll: false, cleared: new Set(), added: new Map() };
  for (const step of steps) take(net, step);
  const members = [...net.added.values()];
  const requirement: MemberChange[] =
    net.required.length > 0 ? [{ kind: 'require', lists: net.required }] : [];
  if (net.isAll) return [...requirement, { kind: 'replace', members }];
  return [
    ...requirement,
    ...(net.cleared.size > 0 ? [{ kind: 'remove' as const, values: [...net.cleared] }] : []),
    ...(members.length > 0 ? [{ kind: 'add' as const, members }] : []),
  ];
}

function take(net: Net, step: MemberStep): void {
  switch (step.kind) {
    case 'add':
      for (const member of step.members) {
        // Who is a member already stays as added first.
        if (!net.added.has(member.value)) net.added.set(member.value, member);
      }
      return;
    case 'remove':
      for (const value of step.values) {
        net.added.delete(value);
        net.cleared.add(value);
      }
      return;
    case 'replace':
      net.isAll = true;
      net.added.clear();
      take(net, { kind: 'add', members: step.members });
      return;
    case 'substitute':
      requireOneOf(net, step.values);
      take(net, { kind: 'remove', values: step.values });
      take(net, { kind: 'add', members: step.members });
  }
}

/** One of the values must be a member at this point; where the steps before do not tell, the store has to. */
function requireOneOf(net: Net, values: string[]): void {
  if (values.some((value) => net.added.has(value))) return;
  const unknown = net.isAll ? [] : values.filter((value) => !net.cleared.has(value));
  if (unknown.length === 0) throw badRequest('noTarget', 'No member of the group matches the filter.');
  net.required.push(unknown);
}
