import type { Identity } from '../../src/provisioning/identity.ts';
import { type Explanation, readExplanation } from '../../src/provisioning/people/explain-person.ts';
import { findSimilarUserNames } from '../../src/provisioning/people/people.ts';
import { authorOf } from '../../src/provisioning/rules/mapping-versions.ts';
import { foldCase } from '../../src/schema/case-fold.ts';
import type { Json } from '../../src/schema/resource.ts';
import { readField, type TravelUser } from '../../src/translator/traveler.ts';
import { isEqualJson } from '../../src/translator/values/values.ts';
import { connections } from '../histories/identity-providers.ts';
import type { ObservedState } from '../histories/record.ts';
import { MAPPING_FILE } from './admin.ts';
import type { World } from './world.ts';

/** Describes the people of whom an admin reads what is not so. The travel service was read since its last change by hand. */
export async function explanationViolations(
  { store, travel, time }: World,
  { people, links }: ObservedState,
): Promise<string[]> {
  const exchanges = { list: async () => ({ exchanges: [], next: undefined, head: '' }) };
  const findOutage = async () => undefined;
  const broken: string[] = [];
  for (const { index, current } of people) {
    const identity = current && (await store.identities.findById(current.connection, current.id));
    // A traveler that must be read again is not shown.
    if (!identity?.observed) continue;
    const explanation = await readExplanation({ ...store, exchanges, findOutage }, identity, time.now());
    const traveler = travel.fake.travelers.get(links.get(index) ?? '');
    const wrong = [
      ...statusViolations(explanation, traveler),
      ...fieldViolations(explanation, traveler, identity),
    ];
    broken.push(...wrong.map((line) => `p${index}: ${line}`));
  }
  return [...broken, ...(await misspeltViolations(store, people)), ...(await authorViolations(store))];
}

/** The history of the mapping names who put each version in force: the first start, and then an admin or a mapping file. */
async function authorViolations({ rules }: World['store']): Promise<string[]> {
  const broken: string[] = [];
  for (const connection of connections) {
    const authors = (await rules.listMappings(connection, Number.MAX_SAFE_INTEGER)).map(authorOf).reverse();
    const [first, ...later] = authors;
    if (first !== 'the first start' || later.some((author) => !LATER_AUTHORS.includes(author)))
      broken.push(`the mappings of ${connection} are by ${authors.join(', ')}`);
  }
  return broken;
}

const LATER_AUTHORS = ['admin', `the mapping file ${MAPPING_FILE}`];

/** An admin who types one letter too many is shown the person who is meant. */
async function misspeltViolations({ people: stored }: World['store'], people: ObservedState['people']) {
  const userName = people.find(({ current }) => current)?.current?.wanted.userName;
  if (userName === undefined) return [];
  const similar = await findSimilarUserNames(stored, [...connections], `${userName}x`);
  return similar.includes(userName) ? [] : [`${userName}x suggests ${similar.join()}, not ${userName}`];
}

function statusViolations({ verdict: { status, because } }: Explanation, traveler: TravelUser | undefined) {
  const isRight = {
    synced: traveler?.archived === false,
    archived: traveler?.archived === true,
    noTraveler: traveler === undefined,
    imported: false,
  };
  const fits = status in isRight ? isRight[status as 'synced'] : because !== undefined;
  return fits ? [] : [`is shown as ${status} (${because}): ${JSON.stringify(traveler)}`];
}

/** Reads of one text that differ only in case are one value. */
function isSameValue(one: Json, other: Json): boolean {
  const areTexts = typeof one === 'string' && typeof other === 'string';
  return isEqualJson(one, other) || (areTexts && foldCase(one) === foldCase(other));
}

function fieldViolations(
  { fields }: Explanation,
  traveler: TravelUser | undefined,
  { applied }: Identity,
): string[] {
  if (!traveler) return [];
  return fields.flatMap(({ field, standing, observed, answered, ...shown }) => {
    const is = readField(traveler, field);
    if (!isEqualJson(observed ?? null, is ?? null))
      return [`${field} is shown as ${JSON.stringify(observed)}, and is ${JSON.stringify(is)}`];
    // An answer without the value is null: the travel API has not taken it. A value that the traveler had already is not shown as
    // sent.
    const sent = shown.sent ?? applied[field]?.sent;
    const isAsSent = isSameValue(answered === undefined ? (sent ?? null) : answered, is ?? null);
    const isTrue = standing === 'same' ? isAsSent : standing !== 'drift' || !isAsSent;
    return isTrue ? [] : [`${field} is shown as ${standing}: ${JSON.stringify({ sent, answered, is })}`];
  });
}
