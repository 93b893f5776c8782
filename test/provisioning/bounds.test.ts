import { readFileSync } from 'node:fs';
import { holdCauses } from '../../src/model/identity.ts';
import { connectionModeNames, defaultPolicies } from '../../src/model/policies.ts';

const source = readFileSync('src/model/identity.ts', 'utf8');

/** The names of the members that an interface of identity.ts declares. */
function membersOf(name: string): string[] {
  const [, body = ''] =
    new RegExp(`^export interface ${name} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(source) ?? [];
  return [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, member = '']) => member);
}

// Each case multiplies with all others (docs/decisions/0063-unknown-until-read.md): one that is added takes the place of another.
test('a person has at most 44 stored members, with those of its progress and its origin', () => {
  const members = ['Identity', 'Progress', 'Origin'].map(membersOf);
  for (const some of members) expect(some).not.toEqual([]);
  expect(members.flat().length).toBeLessThanOrEqual(44);
});

test('a connection has three policies and two modes, and a hold one of three causes', () => {
  expect(Object.keys(defaultPolicies)).toEqual(['deprovision', 'drift', 'safetyValve']);
  expect(connectionModeNames).toEqual(['live', 'shadow']);
  expect(holdCauses).toEqual(['safetyValve', 'guarded', 'neverProvisioned']);
});
