import fc from 'fast-check';
import type { Member, MemberChange } from '../../src/bridge/ports.ts';
import { netChanges } from '../../src/scim/member-changes.ts';

const value = fc.constantFrom('a', 'b', 'c', 'd');
const member: fc.Arbitrary<Member> = fc.record(
  { value, display: fc.constantFrom('x', 'y') },
  { requiredKeys: ['value'] },
);
const change: fc.Arbitrary<MemberChange> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), members: fc.array(member, { maxLength: 3 }) }),
  fc.record({ kind: fc.constant('remove' as const), values: fc.array(value, { maxLength: 3 }) }),
  fc.record({ kind: fc.constant('replace' as const), members: fc.array(member, { maxLength: 3 }) }),
);

/** The steps one after the other, as the store takes them. */
function applied(before: Member[], changes: MemberChange[]): Member[] {
  const members = new Map(before.map((one) => [one.value, one]));
  for (const one of changes) {
    if (one.kind === 'remove') for (const gone of one.values) members.delete(gone);
    if (one.kind === 'replace') members.clear();
    if (one.kind !== 'remove') {
      for (const come of one.members) if (!members.has(come.value)) members.set(come.value, come);
    }
  }
  return [...members.values()];
}

test('the net of any steps is what the steps are, in at most two', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(member, { selector: (one) => one.value }),
      fc.array(change),
      (before, changes) => {
        const net = netChanges(changes);
        expect(applied(before, net)).toEqual(applied(before, changes));
        expect(net.length).toBeLessThanOrEqual(2);
      },
    ),
    { numRuns: 2000 },
  );
});
