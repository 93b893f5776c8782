import type { JsonObject } from '../schema/resource.ts';
import type { HoldCause, IdentityState } from './identity.ts';
import type { Finding } from './translation.ts';

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

/** The orders of people besides that by userName: by name, by state with those first who need an admin, and by last change, the latest or the earliest first. */
export const peopleSorts = ['name', 'state', 'changed', 'unchanged'] as const;

export type PeopleSort = (typeof peopleSorts)[number];

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
  /** Returns those of these people who are not deleted. */
  findByIds(connection: string, ids: string[]): Promise<ListedPerson[]>;
  /** Returns the id of a person whom an IdP has sent, if possible one who was changed lately; undefined if all were imported. */
  findExample(connection: string): Promise<string | undefined>;
  /** Returns the traveler whose credential the bridge uses: as long as no IdP sends it, it is no person, and no list has it. */
  findOwnTravelId(connection: string): Promise<string | undefined>;
  /** Counts the people whom the scope of the mapping leaves out, by connection; those without such people are left out. */
  countOutOfScope(): Promise<{ connection: string; count: number }[]>;
}

/** The kinds of what two people may share. */
export const evidenceKinds = ['address', 'employeeNumber', 'nameAndDepartment'] as const;

/** What two people share, without regard to case. */
export interface Evidence {
  kind: (typeof evidenceKinds)[number];
  value: string;
}

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

/** Returns the name of a user for display: `displayName`, or the parts of `name`. */
export function displayNameOf({ displayName, name }: JsonObject): string {
  if (typeof displayName === 'string' && displayName !== '') return displayName;
  if (typeof name !== 'object' || name === null || Array.isArray(name)) return '';
  const { formatted, givenName, familyName } = name;
  if (typeof formatted === 'string' && formatted !== '') return formatted;
  return [givenName, familyName].filter((part) => typeof part === 'string' && part !== '').join(' ');
}
