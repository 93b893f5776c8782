import { mappingOf } from '../../src/provisioning/rules/mapping-versions.ts';
import { mappingPreviewer } from '../../src/provisioning/rules/preview-mapping.ts';
import { toRulesSnapshot } from '../../src/provisioning/rules/rules-snapshot.ts';
import type { Mapping } from '../../src/translator/mapping/mapping-file.ts';
import type { HistoryContext } from '../histories/execute.ts';
import type { CurrentUser, Person } from '../histories/identity-providers.ts';
import { promises } from '../histories/invariants.ts';
import type { MappingName } from '../histories/mappings.ts';
import { scopeOfPerson, standingOf } from '../histories/standing.ts';
import type { World } from './world.ts';

/**
 * Describes the people without a traveler, whom the scope leaves out, of whom a preview of another mapping tells otherwise than what its scope
 * says of them: that a traveler would be created, or nothing.
 */
export async function previewViolations(
  world: World,
  { people, record }: Pick<HistoryContext, 'people' | 'record'>,
  { name, mapping }: { name: MappingName; mapping: Mapping },
): Promise<string[]> {
  // If rules have changed since the last check, it is not known who has got a traveler by them.
  if (record.changedRules.size > 0 || record.areRulesDiscarded) return [];
  const broken: string[] = [];
  for (const person of people) {
    const { index, current } = person;
    if (!current || record.linkedBefore.has(index) || scopeOfPerson(person, record) !== 'out') continue;
    const { scope } = standingOf(current, { ...record, rules: { ...record.rules, mapping: name } });
    if (scope === 'unresolved' || (scope === 'in' && !isAddressFree(person, world, people))) continue;
    const expected = scope === 'in' ? 'created' : 'same';
    const told = await previewedOutcome(world, current, mapping);
    if (told !== expected)
      broken.push(
        `p${index}: a preview of ${name} tells ${told}, not ${expected} [${promises.previewsTell}]`,
      );
  }
  return broken;
}

/** Returns what a preview of everybody in the connection says of a user. */
async function previewedOutcome(
  { store, connections, time }: World,
  user: CurrentUser,
  mapping: Mapping,
): Promise<string> {
  const connection = connections.find(({ id }) => id === user.connection);
  const inForce = await store.rules.find(user.connection);
  const before = inForce && mappingOf(inForce);
  if (!connection || !before || !inForce.lookups) throw new Error('no rules are in force');
  const snapshot = toRulesSnapshot({ mapping: before }, inForce.lookups);
  const rulesSnapshots = { current: async () => snapshot };
  const preview = await mappingPreviewer({ ...store, rulesSnapshots, runtime: time }).run(connection, {
    ...{ mapping, examples: Number.POSITIVE_INFINITY },
  });
  if ('kind' in preview) throw new Error('the rules in force were not read');
  return preview.examples.find(({ id }) => id === user.id)?.outcome ?? 'same';
}

/** True if no traveler has the address that a person wants, and no other person wants it. */
function isAddressFree(
  { index, current }: Person,
  { travel }: Pick<World, 'travel'>,
  people: HistoryContext['people'],
): boolean {
  const email = current?.wanted.email;
  const isTaken = [...travel.fake.travelers.values()].some((one) => one.email.toLowerCase() === email);
  return !isTaken && !people.some((one) => one.index !== index && one.current?.wanted.email === email);
}
