import { isActive, type JsonObject } from '../../schema/resource.ts';
import { similarWords } from '../../translator/mapping/mapping-faults.ts';
import type { Finding } from '../../translator/translation.ts';
import { type HoldCause, type Identity, type IdentityState, userNameOf } from '../identity.ts';

/** The states by which people are selected. Those whom no identity provider has sent are `unmanaged` as long as they are in step. */
export type ListedState = IdentityState | 'unmanaged';

/** Selects people. Members that are left out select everything. */
export interface PeopleFilter {
  state?: ListedState | undefined;
  /** The code of a finding. With `field` and `value`, one finding has all of them. */
  finding?: string | undefined;
  /** The field of a finding. */
  field?: string | undefined;
  /** The value of a finding, as `findingValueText` formats it. */
  value?: string | undefined;
  /** True: only people with findings. */
  hasFindings?: true | undefined;
  /**
   * True: only people who are inactive or deleted. Otherwise deleted people are included only while work remains for
   * them, such as the archive of their traveler, or while an admin keeps their traveler active.
   */
  archived?: boolean | undefined;
  /** The beginning of the userName, without case. */
  userNamePrefix?: string | undefined;
  /** A part of a name, address, employee number, id or value of a finding, without case. */
  search?: string | undefined;
  /** The order in each connection; by userName if it is left out. */
  sort?: PeopleSort | undefined;
}

/** The orders of people besides that by userName: by name, by state with those first who need an admin, and by last change, the latest first. */
export const peopleSorts = ['name', 'state', 'changed'] as const;
export type PeopleSort = (typeof peopleSorts)[number];

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

/** The place of a person in an order of people: by a key, then by id. */
export interface PersonPlace {
  /** The userName without case, or the key of another order. */
  key: string;
  id: string;
}

/** A person in a list. */
export interface ListedPerson {
  connection: string;
  id: string;
  userName: string;
  /** The name for display; empty if the user has none. */
  name: string;
  state: IdentityState;
  holdCause?: HoldCause | undefined;
  travelId?: string | undefined;
  /** True if no identity provider has sent the person. */
  isUnmanaged: boolean;
  isActive: boolean;
  isDeleted: boolean;
  findings: Finding[];
  /** Epoch milliseconds. */
  lastModified: number;
  /** The time at which the next attempt is due; undefined if it is due at once, or if no attempt is due. */
  nextAttemptAt?: number | undefined;
}

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

/** The longest value of a finding in lists, in characters. */
const MAX_VALUE_LENGTH = 200;

/** Returns the value of a finding for lists and filters: a text as it is, everything else as JSON, and a long one cut; empty if there is none. */
export function findingValueText({ value }: Pick<Finding, 'value'>): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}

/** Returns true if a person has a finding as the filter wants it, or if it wants none. */
export function hasWantedFinding(
  findings: Finding[],
  { finding, field, value, hasFindings }: PeopleFilter,
): boolean {
  if (finding === undefined && field === undefined && value === undefined)
    return hasFindings !== true || findings.length > 0;
  return findings.some(
    (one) =>
      (finding ?? one.code) === one.code &&
      (field ?? one.field) === one.field &&
      (value === undefined || value === findingValueText(one)),
  );
}

/** Returns the codes of the findings of a person, each once. */
export function codesOf({ findings }: Pick<ListedPerson, 'findings'>): string[] {
  return [...new Set(findings.map(({ code }) => code))];
}

/** Some people, and the place to continue from; undefined at the end. A page can be empty although others follow. */
export interface PeoplePage {
  people: ListedPerson[];
  next: PersonPlace | undefined;
}

/** The store of people for lists. */
export interface People {
  /**
   * Returns the people after a place, at most `limit` if it is given. The work of one call is bounded, however few people
   * match.
   */
  findPage(
    connection: string,
    filter: PeopleFilter,
    after: PersonPlace | undefined,
    limit?: number,
  ): Promise<PeoplePage>;
  /** Returns at most `limit` people whose userName, email address or displayName begins with this text, without case. */
  findByPrefix(connection: string, prefix: string, limit: number): Promise<ListedPerson[]>;
  /** Returns at most `limit` people as `PeopleFilter.search` selects them, by name. */
  findByText(connection: string, text: string, limit: number): Promise<ListedPerson[]>;
  /** Returns the id of a person whom an IdP has sent, if possible one who was changed lately; undefined if all were imported. */
  findExample(connection: string): Promise<string | undefined>;
  /** Returns the traveler whose credential the bridge uses: as long as no IdP sends it, it is no person, and no list has it. */
  findOwnTravelId(connection: string): Promise<string | undefined>;
  /** Counts the people whom the scope of the mapping leaves out, by connection; those without such people are left out. */
  countOutOfScope(): Promise<{ connection: string; count: number }[]>;
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

/** Returns the name of a user for display: `displayName`, or the parts of `name`. */
export function displayNameOf({ displayName, name }: JsonObject): string {
  if (typeof displayName === 'string' && displayName !== '') return displayName;
  if (typeof name !== 'object' || name === null || Array.isArray(name)) return '';
  const { formatted, givenName, familyName } = name;
  if (typeof formatted === 'string' && formatted !== '') return formatted;
  return [givenName, familyName].filter((part) => typeof part === 'string' && part !== '').join(' ');
}
