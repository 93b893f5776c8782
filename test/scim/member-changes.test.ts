import fc from 'fast-check';
import type { Member, MemberChange } from '../../src/provisioning/group-ports.ts';
import { type MemberStep, netChanges } from '../../src/scim/group-members.ts';

const value = fc.constantFrom('a', 'b', 'c', 'd');
const member: fc.Arbitrary<Member> = fc.record(
  { value, display: fc.constantFrom('x', 'y') },
  { requiredKeys: ['value'] },
);
const step: fc.Arbitrary<MemberStep> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), members: fc.array(member, { maxLength: 3 }) }),
  fc.record({ kind: fc.constant('remove' as const), values: fc.array(value, { maxLength: 3 }) }),
  fc.record({ kind: fc.constant('replace' as const), members: fc.array(member, { maxLength: 3 }) }),
  fc.record({
    kind: fc.constant('substitute' as const),
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
    members: fc.array(member, { maxLength: 1 }),
  }),
);

/** Applies the steps one after the other; `noTarget` when a step names no member where it must. */
function applied(before: Member[], steps: (MemberStep | MemberChange)[]): Member[] | 'noTarget' {
  const members = new Map(before.map((one) => [one.value, one]));
  const hasOneOf = (values: string[]) => values.some((one) => members.has(one));
  for (const one of steps) {
    if (one.kind === 'require') {
      if (!one.lists.every(hasOneOf)) return 'noTarget';
      continue;
    }
    if (one.kind === 'substitute' && !hasOneOf(one.values)) return 'noTarget';
    if ('values' in one) for (const gone of one.values) members.delete(gone);
    if (one.kind === 'replace') members.clear();
    if ('members' in one) {
      for (const come of one.members) if (!members.has(come.value)) members.set(come.value, come);
    }
  }
  return [...members.values()];
}

function netOf(steps: MemberStep[]): MemberChange[] | 'noTarget' {
  try {
    return netChanges(steps);
  } catch (error) {
    expect(error).toMatchObject({ scimType: 'noTarget' });
    return 'noTarget';
  }
}

test('the net of any steps is what the steps are, in at most three', () => {
  fc.assert(
    fc.property(fc.uniqueArray(member, { selector: (one) => one.value }), fc.array(step), (before, steps) => {
      const net = netOf(steps);
      const outcome = net === 'noTarget' ? net : applied(before, net);
      expect(outcome).toEqual(applied(before, steps));
      if (!steps.some(({ kind }) => kind === 'substitute')) expect(net.length).toBeLessThanOrEqual(2);
      if (net !== 'noTarget') expect(net.length).toBeLessThanOrEqual(3);
    }),
    { numRuns: 5000 },
  );
});
