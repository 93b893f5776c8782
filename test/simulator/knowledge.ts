import type { Policies } from '../../src/model/policies.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import type { StatedGroup } from './groups.ts';
import {
  type Expected,
  expectedFields,
  type MappingName,
  open,
  ruledGroups,
  type StatedUser,
  scopeOf,
} from './mappings.ts';
import { type ConnectionName, type CurrentUser, humanOf, type Person } from './people.ts';
import { asSet, type Catalog, type Field, type RuledField, ruledFields, type Value } from './travelers.ts';
import type { WantedUser } from './wanted-user.ts';

/** What IdPs and admins have done so far, as far as the checks need it. Nothing here is asked of the bridge. */
export interface Knowledge {
  policies: Policies;
  catalog: Catalog;
  people: Person[];
  groups: StatedGroup[];
  mapping: MappingName;
  /** Every value that was ever stated for a human, by field. */
  stated: Map<string, Map<Field, Set<Value>>>;
  /** The fields of a human for which something new was stated since the last rest at which the traveler had what was stated; `*` for all. */
  news: Map<string, Set<Field | '*'>>;
  /** The active humans whom the scope has left out since the last rest. */
  outside: Set<string>;
  /** The values that were set by hand in a traveler, and stand. */
  foreign: Map<string, Map<Field, Value>>;
  /** Every value that was set by hand in a traveler, or was there before the bridge knew it. */
  everForeign: Map<string, Map<Field, Set<Value>>>;
  /** The human whom the bridge has provisioned in a traveler. */
  owners: Map<string, string>;
  /** The travelers that had a call without an answer since the last rest. */
  doubtful: Set<string>;
  /** The travelers about which an admin of the bridge has decided. */
  decided: Set<string>;
  /** Those of them whose departure an admin has discarded. */
  discarded: Set<string>;
  /** The travelers that were ever given a role by hand that administers the travel service. */
  guarded: Set<string>;
  /** True once a backup was restored: a write states the whole user then, also where its values are equal. */
  isRestored: boolean;
  /** The connections in shadow mode. */
  shadow: Set<ConnectionName>;
  /** What breaks a promise while it happens. */
  broken: string[];
}

export function newKnowledge(policies: Policies, catalog: Catalog, people: Person[]): Knowledge {
  return {
    ...{ policies, catalog, people, groups: [], mapping: 'defaults', isRestored: false, broken: [] },
    ...{ stated: new Map(), news: new Map(), foreign: new Map(), everForeign: new Map(), owners: new Map() },
    ...{
      doubtful: new Set(),
      decided: new Set(),
      discarded: new Set(),
      outside: new Set(),
      guarded: new Set(),
      shadow: new Set(),
    },
  };
}

/** A user with the groups of which it is a member. */
export function statedUser({ groups }: Knowledge, { connection, id, wanted }: CurrentUser): StatedUser {
  const known = groups.filter((one) => one.connection === connection);
  const names = known
    .filter(({ members }) => members.includes(id))
    .map(({ displayName }) => displayName.toLowerCase());
  const hasGroup = (name: string) =>
    known.some(({ displayName }) => displayName.toLowerCase() === name.toLowerCase());
  return { ...wanted, groups: names, hasGroup };
}

/** What the rules in force make of a user. */
export function expectedOf(knowledge: Knowledge, user: CurrentUser): Map<RuledField, Expected> {
  return expectedFields(knowledge.mapping, statedUser(knowledge, user));
}

export function scopeOfUser(knowledge: Knowledge, user: CurrentUser): ReturnType<typeof scopeOf> {
  return scopeOf(knowledge.mapping, statedUser(knowledge, user));
}

/** Notes what a user states, before it is sent: a call may carry it out from then on. */
export function noteStatement(knowledge: Knowledge, user: CurrentUser): void {
  const human = user.wanted.familyName;
  const stated = entryOf(knowledge.stated, human, () => new Map<Field, Set<Value>>());
  const asStated = statedUser(knowledge, user);
  // Without a group that a rule names, the rule may be read as for one that has no members, or as before for those who were members.
  const missing = ruledGroups.filter((name) => !asStated.hasGroup(name));
  const readings = [[], missing, ...missing.map((name) => [name])];
  for (const groups of readings.map((counted) => [...asStated.groups, ...counted]))
    for (const [field, value] of expectedFields(knowledge.mapping, {
      ...asStated,
      groups,
      hasGroup: () => true,
    }))
      if (value !== open) addTo(stated, field, field === 'email' ? value?.toLowerCase() : value);
  if (user.wanted.userName.includes('@')) addTo(stated, 'email', user.wanted.userName.toLowerCase());
}

/** Notes that something new is stated for a human. */
export function noteNews(knowledge: Knowledge, human: string, news: Iterable<Field | '*'>): void {
  const known = entryOf(knowledge.news, human, () => new Set<Field | '*'>());
  for (const one of news) {
    known.add(one);
    knowledge.outside.delete(human);
  }
}

/** The fields in which a write states something new. A new user, and one who comes back or leaves, states everything. */
export function newsOf(before: WantedUser | undefined, after: WantedUser | undefined): (Field | '*')[] {
  if (!before || !after || before.active !== after.active || before.familyName !== after.familyName)
    return ['*'];
  const isSame = (name: keyof WantedUser) => JSON.stringify(before[name]) === JSON.stringify(after[name]);
  return (Object.keys(sources) as (keyof WantedUser)[]) // The keys are attributes.
    .filter((name) => !isSame(name))
    .flatMap((name) => sources[name] ?? []);
}

/** The fields that mappings give from an attribute. */
const sources: Partial<Record<keyof WantedUser, (Field | '*')[]>> = {
  givenName: ['firstName'],
  userName: ['email', 'managerId'],
  externalId: ['*'],
  email: ['email'],
  phone: ['phoneNumber'],
  lang: ['lang'],
  street: ['address.streetAddress'],
  city: ['address.city'],
  roles: ['roles.organizer', 'roles.premium'],
  department: ['team', 'title'],
  // The scope of some mappings asks for the title.
  title: ['*'],
  costCenter: ['costCenterId'],
  manager: ['managerId'],
};

/** Lets something change that concerns everybody, such as the mapping, and notes what it states. */
export function changeForEverybody(knowledge: Knowledge, change: () => void): void {
  change();
  for (const { current, unanswered } of knowledge.people) {
    // A write that is not answered yet may be carried out before and after the change.
    const { connection, wanted } = unanswered ?? {};
    if (connection && wanted) noteStatement(knowledge, { connection, id: current?.id ?? '', wanted });
    if (!current) continue;
    noteStatement(knowledge, current);
    noteNews(knowledge, current.wanted.familyName, ['*']);
  }
}

/** Notes that a value was set by hand. */
export function noteForeign(knowledge: Knowledge, traveler: string, field: Field, value: Value): void {
  entryOf(knowledge.foreign, traveler, () => new Map<Field, Value>()).set(field, asSet(value));
  addTo(
    entryOf(knowledge.everForeign, traveler, () => new Map<Field, Set<Value>>()),
    field,
    asSet(value),
  );
}

/** True if the value that a traveler has in a field was set by hand. */
export function isForeignValue(
  { foreign }: Knowledge,
  traveler: string,
  field: Field,
  value: Value,
): boolean {
  const values = foreign.get(traveler);
  return values?.has(field) === true && values.get(field) === asSet(value);
}

/** The human of a place now; undefined while it has no user. */
export function humanIn({ current }: Person): string | undefined {
  return current && humanOf(current.wanted.familyName);
}

/** The humans with a live user, in the order of the places. */
export function ownersOf(
  { owners }: Knowledge,
  travelers: readonly TravelUser[],
  human: string,
): TravelUser[] {
  return travelers.filter(({ id }) => owners.get(id) === human);
}

export function hasNews({ news }: Knowledge, human: string, field: Field): boolean {
  const known = news.get(human);
  return known?.has('*') === true || known?.has(field) === true;
}

/** The values that may be sent for a human in a field. */
export function isStated({ stated }: Knowledge, human: string, field: Field, value: Value): boolean {
  return stated.get(human)?.get(field)?.has(value) === true;
}

export function isRuled(field: Field): boolean {
  return ruledFields.some((one) => one === field);
}

function addTo(map: Map<Field, Set<Value>>, field: Field, value: Value): void {
  entryOf(map, field, () => new Set<Value>()).add(value);
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
