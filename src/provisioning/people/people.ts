import { type Identity, userNameOf } from '../../model/identity.ts';
import {
  displayNameOf,
  type ListedPerson,
  type People,
  type PeopleFilter,
  type PersonPlace,
} from '../../model/people.ts';
import { isActive } from '../../schema/resource.ts';
import { similarWords } from '../../schema/similar-words.ts';

/**
 * The codes by which people can be selected: those of all findings, of the translator and of the reconciler, in alphabetical order.
 * docs/operations/states-and-findings.md explains them.
 */
export const findingCodes = [
  'attributeUnknown',
  'billingProfileAmbiguous',
  'billingProfileArchived',
  'billingProfileContradiction',
  'billingProfileUnknown',
  'billingProfileUnreadable',
  'booleanUnreadable',
  'costCenterAmbiguous',
  'costCenterArchived',
  'costCenterContradiction',
  'costCenterUnknown',
  'costCenterUnreadable',
  'countryUnknown',
  'currencyUnknown',
  'customFieldAmbiguous',
  'customFieldDisabled',
  'customFieldLost',
  'customFieldPattern',
  'customFieldTwice',
  'customFieldType',
  'customFieldUnknown',
  'dateOfBirthImplausible',
  'dateUnreadable',
  'drift',
  'emailHeldByLeaver',
  'emailInvalid',
  'emailOfDeletedUser',
  'emailOfGuest',
  'emailReserved',
  'emailTaken',
  'erasedTraveler',
  'forbidden',
  'furtherTraveler',
  'genderUnknown',
  'groupUnresolved',
  'guarded',
  'keptActive',
  'languageUnsupported',
  'managerAmbiguous',
  'managerCircle',
  'managerGone',
  'managerInactive',
  'managerNotLinked',
  'managerReplaced',
  'managerSelf',
  'managerUnknown',
  'mappingUnusable',
  'movedFrom',
  'movedTo',
  'neverProvisioned',
  'noEmail',
  'notApplied',
  'notDeleted',
  'optionDisabled',
  'optionUnknown',
  'otherPerson',
  'outOfScope',
  'ownCredential',
  'passedOn',
  'phoneExtension',
  'phoneUnreadable',
  'phoneWithoutCountry',
  'privileged',
  'refusedByTravelApi',
  'restored',
  'roleNotAllowed',
  'rolePreexisting',
  'roleUnknown',
  'safetyValve',
  'scopeUnresolved',
  'secondUser',
  'severalValues',
  'shadowChange',
  'shadowCreate',
  'shadowDeparture',
  'shadowLink',
  'shadowReactivation',
  'textUnusable',
  'transformFailed',
  'travelPolicyAmbiguous',
  'travelPolicyArchived',
  'travelPolicyContradiction',
  'travelPolicyUnknown',
  'travelPolicyUnreadable',
  'unclearAnswer',
  'unconfirmed',
  'valueRefused',
] as const;

/** The columns of people in CSV. */
export const peopleColumns = {
  connection: ({ connection }: ListedPerson) => connection,
  id: ({ id }: ListedPerson) => id,
  userName: ({ userName }: ListedPerson) => userName,
  name: ({ name }: ListedPerson) => name,
  state: ({ state }: ListedPerson) => state,
  hold: ({ holdCause }: ListedPerson) => holdCause,
  travelUserId: ({ travelId }: ListedPerson) => travelId,
  active: ({ isActive }: ListedPerson) => isActive,
  deleted: ({ isDeleted }: ListedPerson) => isDeleted,
  findings: (person: ListedPerson) => codesOf(person).join(' '),
  lastChange: ({ lastModified }: ListedPerson) => new Date(lastModified),
  nextAttempt: ({ nextAttemptAt }: ListedPerson) =>
    nextAttemptAt === undefined ? undefined : new Date(nextAttemptAt),
};

/** Returns the codes of the findings of a person, each once. */
export function codesOf({ findings }: Pick<ListedPerson, 'findings'>): string[] {
  return [...new Set(findings.map(({ code }) => code))];
}

/** Yields the people of these connections page by page, so that memory stays bounded. */
export async function* listPeople(
  people: People,
  connections: string[],
  filter: PeopleFilter,
): AsyncGenerator<ListedPerson[]> {
  for (const connection of connections) {
    let next: PersonPlace | undefined;
    do {
      const page = await people.findPage(connection, filter, next);
      yield page.people;
      next = page.next;
    } while (next);
  }
}

/** The lengths of the beginnings that a misspelled userName shares with the right one, as far as they are tried. */
const SHARED_LENGTHS = [16, 8, 4, 2, 1];
/** The userNames with each beginning that are compared. */
const MAX_COMPARED = 50;
const MAX_DISTANCE = 2;
const MAX_SIMILAR = 3;
const MAX_USER_NAME_LENGTH = 256;

/**
 * Returns a few userNames that differ from a misspelled one in at most two letters, the most similar first; if there is none, those of
 * people whose userName, email address or displayName begins with the text. Only some hundred of those with the same first letters are
 * compared, so that the work does not grow with the number of people.
 */
export async function findSimilarUserNames(
  people: Pick<People, 'findPage' | 'findByPrefix'>,
  connections: string[],
  misspelled: string,
): Promise<string[]> {
  if (misspelled.length > MAX_USER_NAME_LENGTH) return [];
  const found = new Set<string>();
  for (const connection of connections)
    for (const length of SHARED_LENGTHS.filter((one) => one < misspelled.length)) {
      const filter = { userNamePrefix: misspelled.slice(0, length) };
      const page = await people.findPage(connection, filter, undefined, MAX_COMPARED);
      for (const { userName } of page.people) found.add(userName);
    }
  const similar = similarWords(misspelled, [...found], MAX_DISTANCE);
  if (similar.length > 0) return similar.slice(0, MAX_SIMILAR);
  const pages = await Promise.all(
    connections.map((connection) => people.findByPrefix(connection, misspelled, MAX_SIMILAR)),
  );
  return [...new Set(pages.flat().map(({ userName }) => userName))].slice(0, MAX_SIMILAR);
}

/** Returns a person as lists show it. */
export function toListedPerson(identity: Identity): ListedPerson {
  const { connection, id, desired, state, hold, travelId, deletedAt, nextAttemptAt } = identity;
  return {
    ...{ connection, id, state, findings: identity.findings, lastModified: identity.lastModified },
    userName: userNameOf(identity),
    name: displayNameOf(desired),
    ...(hold && { holdCause: hold.cause }),
    ...(travelId === undefined ? {} : { travelId }),
    isUnmanaged: !identity.claimed && deletedAt === undefined,
    isActive: isActive(desired),
    isDeleted: deletedAt !== undefined,
    ...(nextAttemptAt === undefined ? {} : { nextAttemptAt }),
  };
}
