import type { TravelUser } from '../../src/translator/traveler.ts';
import type { RememberedTraveler } from './expected-fields.ts';
import type { Person } from './identity-providers.ts';
import { managersOfCreates, meantManagers } from './manager-invariants.ts';
import {
  expectedField,
  type HistoryRecord,
  isAdmin,
  type ObservedState,
  ownerOf,
  rememberStated,
} from './record.ts';
import { isScopeDiscarded, scopeOfPerson } from './standing.ts';
import { type Field, fields, fieldValue, type Value } from './traveler-fields.ts';

/** Remembers a state without violations, and forgets the events that led to it. */
export function rememberState(state: ObservedState): void {
  const { record, travelers, links, people } = state;
  record.meantManagers = meantManagers(state);
  record.managersOfCreates = managersOfCreates(state);
  const memory = new Map<string, RememberedTraveler>();
  for (const traveler of travelers) {
    const person = people.find(({ index }) => links.get(index) === traveler.id);
    const old = record.memory.get(traveler.id);
    if (person?.current) memory.set(traveler.id, rememberLinked(traveler, person, state));
    else if (old) memory.set(traveler.id, rememberLeaver(traveler, old, state));
    else {
      // A person who came and left after the restore is a leaver, as ever.
      const isOfLeaver = state.decided.ofLeavers.has(traveler.id);
      if (record.isRestored && !isOfLeaver) record.strangers.set(traveler.id, ownerOf(traveler, people));
      memory.set(traveler.id, rememberUnlinked(traveler, state));
    }
  }
  record.isRestored = false;
  record.memory = memory;
  record.events = [];
  record.rulesBefore = { ...record.rules, collection: new Set(record.rules.collection) };
  record.costCentersBefore = new Set(record.catalog.costCenters.keys());
  if (!record.areRulesDiscarded) record.undecided.clear();
  record.rulesSince = [];
  record.changedRules.clear();
  for (const id of links.values()) record.uncertain.delete(id);
  for (const id of state.decided.takenForExisting) record.takenForExisting.add(id);
  record.disobedient.clear();
  record.approvedGuarded.clear();
  rememberStated(record, people, links);
  for (const person of people) {
    const traveler = links.get(person.index) ?? '';
    // The person may have got the traveler of an admin of the travel service.
    if (record.guarded.has(traveler)) person.isGuarded = true;
    if (scopeOfPerson(person, record) === 'in') record.keptOutOfScope.delete(traveler);
  }
}

/** Remembers a traveler whose person has left, or that has none. */
function rememberLeaver(
  traveler: TravelUser,
  old: RememberedTraveler,
  state: ObservedState,
): RememberedTraveler {
  const { people, record } = state;
  const owner = people.find(({ index }) => index === old.owner?.person);
  const { wanted, ignored } = owner ? rememberLinked(traveler, owner, state) : old;
  return {
    ...old,
    ...rememberedValues(traveler, state),
    ...{ wanted, ignored },
    isActiveByHand: !traveler.archived && !state.decided.keptActive.has(traveler.id),
    isLeftBehind: true,
    isUncertain: old.isUncertain || isRenamed(old, record) || hasLeftBesideOtherRules(old, record),
  };
}

/** True if the externalId of a leaver is uncertain: it depends on whether a write since the last check was carried out. */
function isRenamed({ owner }: RememberedTraveler, { events }: HistoryRecord): boolean {
  return events.some(
    (event) =>
      event.kind === 'write' &&
      event.person === owner?.person &&
      event.wanted !== undefined &&
      event.wanted.externalId !== owner.externalId,
  );
}

/** True if a person left while rules changed: the traveler may or may not have become as they say before. */
function hasLeftBesideOtherRules(
  { owner }: RememberedTraveler,
  { events, changedRules }: HistoryRecord,
): boolean {
  return (
    changedRules.size > 0 &&
    events.some((event) => event.kind === 'write' && event.person === owner?.person && !event.wanted)
  );
}

function rememberLinked(traveler: TravelUser, person: Person, state: ObservedState): RememberedTraveler {
  const { lastConnection: connection, lastWanted: last, index } = person;
  const wanted = new Map(
    fields.flatMap((field): [Field, string | undefined][] => {
      const expected = expectedField(field, traveler, person, state);
      if (!expected.wanted) return [];
      const value = fieldValue(traveler, field, state.record.catalog);
      // While it is not known whether a person is in scope, the access stays that an admin has kept.
      const isUnresolved = scopeOfPerson(person, state.record) === 'unresolved';
      const isKept = field === 'archived' && isUnresolved && value === 'false';
      // The travel API has not carried out what was sent last.
      const isIgnored = state.record.disobedient.has(traveler.id);
      const isLastSent = !isIgnored && expected.sent.has(value);
      return [[field, isKept || isLastSent ? value : expected.wanted.value]];
    }),
  );
  const owner = { person: index, connection, externalId: last.externalId };
  return {
    ...rememberedValues(traveler, state),
    ...{ wanted, ignored: ignoredFields(traveler, wanted, state), owner },
    isActiveByHand: false,
    isLeftBehind: false,
    isWithoutRules: isWithoutRules(person, state),
    isUncertain: false,
    isRestored: state.record.restored.has(traveler.id),
  };
}

/** The fields that have other values than the wanted ones, which the travel API has ignored since the last check or before. */
function ignoredFields(
  traveler: TravelUser,
  wanted: RememberedTraveler['wanted'],
  { record }: ObservedState,
): Set<Field> {
  const before = record.memory.get(traveler.id)?.ignored;
  const isIgnored = (field: Field) => record.disobedient.has(traveler.id) || before?.has(field) === true;
  const isOther = ([field, value]: [Field, Value]) =>
    fieldValue(traveler, field, record.catalog) !== value && isIgnored(field);
  return new Set([...wanted].filter(isOther).map(([field]) => field));
}

/** True if the traveler of a person may not be as the rules in force say. */
function isWithoutRules(person: Person, { decided, record }: ObservedState): boolean {
  const isDecided = decided.withoutRules.has(person.index);
  return isDecided || isScopeDiscarded(record) || scopeOfPerson(person, record) !== 'in';
}

/** Remembers a traveler that was created by hand, or for a person who came and left since the last check. */
function rememberUnlinked(traveler: TravelUser, state: ObservedState): RememberedTraveler {
  const { record, people } = state;
  const author = record.strangers.get(traveler.id);
  const person = people.find(
    ({ index, lastWanted: last }) => index === author || last.familyName === traveler.lastName,
  );
  const isUncertain =
    author === undefined ||
    record.events.some((event) => event.kind === 'write' && event.wanted?.email === person?.lastWanted.email);
  const owner =
    author !== undefined || !person
      ? undefined
      : { person: person.index, connection: person.lastConnection, externalId: person.lastWanted.externalId };
  return {
    ...rememberedValues(traveler, state),
    ...{ wanted: new Map(), ignored: new Set<Field>(), owner },
    isUncertain,
    isActiveByHand: !traveler.archived,
    isLeftBehind: false,
    isWithoutRules: false,
    isRestored: state.record.restored.has(traveler.id),
  };
}

function rememberedValues(
  traveler: TravelUser,
  { record, decided, people, links }: ObservedState,
): Pick<RememberedTraveler, 'fields' | 'email' | 'costCenterId' | 'isAdmin' | 'isKeptActive'> {
  const person = people.find(({ index }) => links.get(index) === traveler.id);
  // An admin has decided about a person who was out of scope then.
  const isWanted = person?.current?.wanted.active === true && scopeOfPerson(person, record) === 'in';
  const isKeptActive = decided.keptActive.has(traveler.id) && !isWanted;
  // A traveler that an admin keeps active is no drift: a later decision archives it.
  const rememberedValue = (field: Field) =>
    field === 'archived' && isKeptActive ? 'true' : fieldValue(traveler, field, record.catalog);
  const values = fields.map((field) => [field, rememberedValue(field)]);
  const all = Object.fromEntries(values) as RememberedTraveler['fields']; // Every field is there.
  const { email, costCenterId } = traveler;
  return { fields: all, email, costCenterId, isAdmin: isAdmin(traveler), isKeptActive };
}
