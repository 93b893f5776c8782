import type { TravelUser } from '../../src/translator/traveler.ts';
import { emailViolations } from './email-invariants.ts';
import {
  expectedValues,
  type HistoryEvent,
  type RememberedTraveler,
  type RuleChange,
} from './expected-fields.ts';
import type { Person, UserWrite } from './identity-providers.ts';
import { managerViolations } from './manager-invariants.ts';
import { type Catalog, type Field, fields, fieldValue, type MappedAttribute } from './traveler-fields.ts';
import type { WantedUser } from './wanted-user.ts';

/** The facts about a history that the state of the services does not contain. */
export interface HistoryRecord {
  catalog: Catalog;
  drift: 'report' | 'correct';
  onReturn: 'revive' | 'separate';
  inactiveManager: 'keep' | 'clear';
  /** The events since the last check. */
  events: HistoryEvent[];
  rules: Set<MappedAttribute>;
  rulesBefore: Set<MappedAttribute>;
  memory: Map<string, RememberedTraveler>;
  edits: Map<string, number>;
  /** All addresses that each person has ever wanted. */
  emails: Map<number, Set<string>>;
  /** Travelers that are or were admins of the travel service. They are not checked, as an admin decides about them. */
  guarded: Set<string>;
  /** Travelers whose fields the contract does not decide, because an admin or the travel API has. */
  uncertain: Set<string>;
  /** Travelers that were created by hand, with the person whose address they have. */
  strangers: Map<string, number>;
}

/** The state at one time: people with their links, and travelers. */
export interface ObservedState {
  people: readonly Person[];
  /** The travel user that each person's SCIM resource is linked to. */
  links: ReadonlyMap<number, string>;
  travelers: readonly TravelUser[];
  record: HistoryRecord;
}

/** The record at the beginning of a history. */
export function newHistoryRecord(
  catalog: Catalog,
  {
    drift,
    onReturn,
    inactiveManager = 'keep',
  }: Pick<HistoryRecord, 'drift' | 'onReturn'> & { inactiveManager?: HistoryRecord['inactiveManager'] },
  rules: readonly MappedAttribute[],
): HistoryRecord {
  return {
    ...{
      catalog,
      drift,
      onReturn,
      inactiveManager,
      events: [],
      rules: new Set(rules),
      rulesBefore: new Set(rules),
      memory: new Map(),
    },
    ...{
      edits: new Map(),
      emails: new Map(),
      strangers: new Map(),
      guarded: new Set(),
      uncertain: new Set(),
    },
  };
}

/** Notes an acknowledged write in the record. */
export function recordWrite(
  record: HistoryRecord,
  person: Person,
  before: WantedUser | undefined,
  verb: UserWrite['verb'],
): void {
  const { index, current, lastConnection: connection } = person;
  const wanted = current?.wanted;
  const emails = record.emails.get(index) ?? new Set();
  const isNewEmail = wanted !== undefined && !emails.has(wanted.email);
  record.events.push({ kind: 'write', person: index, connection, verb, wanted, before, isNewEmail });
  if (!wanted) return;
  record.emails.set(index, emails.add(wanted.email).add(wanted.userName));
}

/** Describes each violation of the contract in a settled state. */
export function findViolations(state: ObservedState): string[] {
  return [
    ...linkViolations(state),
    ...state.people.flatMap((person) => fieldViolations(person, state)),
    ...emailViolations(state),
    ...managerViolations(state),
    ...state.travelers.flatMap((traveler) => unlinkedViolations(traveler, state)),
    ...state.travelers.flatMap((traveler) => guardViolations(traveler, state)),
  ];
}

/** Remembers a state without violations, and forgets the events that led to it. */
export function rememberState(state: ObservedState): void {
  const { record, travelers, links, people } = state;
  const memory = new Map<string, RememberedTraveler>();
  for (const traveler of travelers) {
    const person = people.find(({ index }) => links.get(index) === traveler.id);
    const old = record.memory.get(traveler.id);
    if (person?.current) memory.set(traveler.id, rememberLinked(traveler, person, state));
    else if (old) memory.set(traveler.id, rememberLeaver(traveler, old, state));
    else memory.set(traveler.id, rememberUnlinked(traveler, state));
  }
  record.memory = memory;
  record.events = [];
  record.rulesBefore = new Set(record.rules);
}

/** Remembers a traveler whose person has left, or that has none. */
function rememberLeaver(
  traveler: TravelUser,
  old: RememberedTraveler,
  state: ObservedState,
): RememberedTraveler {
  const { people, record } = state;
  const owner = people.find(({ index }) => index === old.owner?.person);
  const last = owner ? rememberLinked(traveler, owner, state).wanted : old.wanted;
  return {
    ...old,
    ...rememberedValues(traveler, state),
    wanted: last,
    isActiveByHand: !traveler.archived,
    isLeftBehind: true,
    isUncertain: old.isUncertain || isRenamed(old, record) || hasLeftBesideNewRule(old, record),
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

/** True if a person left while a rule was added: the field may or may not have become owned before. */
function hasLeftBesideNewRule(
  { owner }: RememberedTraveler,
  { events, rules, rulesBefore }: HistoryRecord,
): boolean {
  const isNewRule = [...rules].some((rule) => !rulesBefore.has(rule));
  return (
    isNewRule &&
    events.some((event) => event.kind === 'write' && event.person === owner?.person && !event.wanted)
  );
}

function rememberLinked(traveler: TravelUser, person: Person, state: ObservedState): RememberedTraveler {
  const { lastConnection: connection, lastWanted: last, index } = person;
  const wanted = new Map(
    fields.flatMap((field): [Field, string | undefined][] => {
      const expected = expectedField(field, traveler, person, state).wanted;
      return expected ? [[field, expected.value]] : [];
    }),
  );
  const owner = { person: index, connection, externalId: last.externalId };
  return {
    ...rememberedValues(traveler, state),
    wanted,
    owner,
    isActiveByHand: false,
    isLeftBehind: false,
    isUncertain: false,
  };
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
    wanted: new Map(),
    owner,
    isUncertain,
    isActiveByHand: !traveler.archived,
    isLeftBehind: false,
  };
}

function rememberedValues(
  traveler: TravelUser,
  { record }: ObservedState,
): Pick<RememberedTraveler, 'fields' | 'email' | 'isAdmin'> {
  const values = fields.map((field) => [field, fieldValue(traveler, field, record.catalog)]);
  const all = Object.fromEntries(values) as RememberedTraveler['fields']; // Every field is there.
  return { fields: all, email: traveler.email, isAdmin: isAdmin(traveler) };
}

function isAdmin({ roles = [] }: TravelUser): boolean {
  return roles.includes('admin');
}

/** Email and roles of an admin must not change, and it must not be archived. A return may un-archive it. */
function guardViolations(traveler: TravelUser, { record }: ObservedState): string[] {
  const memory = record.memory.get(traveler.id);
  if (!memory?.isAdmin || !isAdmin(traveler)) return [];
  const isEdited = (field: Field | 'email') =>
    record.events.some(
      (event) => event.kind === 'edit' && event.traveler === traveler.id && event.field === field,
    );
  const faults = (['archived', 'roles.organizer', 'roles.premium', 'roles.guest'] as const).flatMap(
    (field) => {
      const value = fieldValue(traveler, field, record.catalog);
      const isReturn = field === 'archived' && value === 'false';
      if (value === memory.fields[field] || isReturn || isEdited(field)) return [];
      return [`${field} is ${value ?? 'nothing'}`];
    },
  );
  if (traveler.email !== memory.email && !isEdited('email')) faults.push(`email is ${traveler.email}`);
  return faults.map((fault) => `the guarded traveler ${traveler.id} was changed: ${fault}`);
}

function expectedField(field: Field, traveler: TravelUser, person: Person, { record }: ObservedState) {
  const { events, drift, edits } = record;
  const rules: RuleChange = { before: record.rulesBefore, now: record.rules };
  const { index, current } = person;
  const memory = record.memory.get(traveler.id);
  const linked = { traveler: traveler.id, person: index, wanted: current?.wanted, memory };
  return expectedValues(field, linked, { events, rules, drift, edits });
}

function fieldViolations(person: Person, state: ObservedState): string[] {
  const id = state.links.get(person.index);
  const traveler = state.travelers.find((one) => one.id === id);
  const { guarded, uncertain } = state.record;
  if (!traveler || guarded.has(traveler.id) || uncertain.has(traveler.id)) return [];
  return fields.flatMap((field) => {
    const costCenter = person.current?.wanted.costCenter;
    if (field === 'costCenterId' && costCenter !== undefined)
      return costCenterViolations(person, costCenter, traveler, state);
    const { allowed } = expectedField(field, traveler, person, state);
    const value = fieldValue(traveler, field, state.record.catalog);
    if (allowed === 'any' || allowed.has(value)) return [];
    const right = [...allowed].map((one) => one ?? 'nothing').join(' or ');
    return [`p${person.index}: ${field} is ${value ?? 'nothing'}, not ${right} (traveler ${id})`];
  });
}

/** An existing cost center must be set on the traveler; one that does not exist leaves the value before. */
function costCenterViolations(
  { index }: Person,
  name: string,
  traveler: TravelUser,
  { record }: ObservedState,
): string[] {
  const value = fieldValue(traveler, 'costCenterId', record.catalog);
  if (!record.catalog.costCenters.has(name) || value === name) return [];
  return [`p${index}: costCenterId is ${value ?? 'nothing'}, not ${name} (traveler ${traveler.id})`];
}

function linkViolations({ people, links, travelers, record }: ObservedState): string[] {
  return people.flatMap(({ index, current }) => {
    const id = links.get(index);
    if (id === undefined || !current) return [];
    const faults: string[] = [];
    if (!travelers.some((traveler) => traveler.id === id))
      faults.push(`p${index}: is linked to ${id}, which is not there`);
    const other = people.find((one) => one.index < index && links.get(one.index) === id);
    if (other) faults.push(`p${index}: shares the traveler ${id} with p${other.index}`);
    const { owner, isUncertain } = record.memory.get(id) ?? {};
    const isOther =
      !isUncertain &&
      owner?.person === index &&
      owner.connection === current.connection &&
      owner.externalId !== current.wanted.externalId;
    if (isOther && record.onReturn === 'separate')
      faults.push(`p${index}: has the traveler ${id} of ${owner.externalId}, who was somebody else`);
    return faults;
  });
}

/** A traveler without a person must be archived, and either its person has left or it was created by hand. */
function unlinkedViolations(traveler: TravelUser, { people, links, record }: ObservedState): string[] {
  const { id, archived, email, lastName } = traveler;
  if (isAdmin(traveler) || record.guarded.has(id) || people.some(({ index }) => links.get(index) === id))
    return [];
  const shownTraveler = `traveler ${id} (${email}, ${lastName}) of nobody`;
  const remembered = record.memory.get(id);
  const isEdited = record.events.some(
    (event) => event.kind === 'edit' && event.traveler === id && event.field === 'archived',
  );
  if (!remembered?.owner && record.strangers.has(id)) return [];
  if (!archived) return remembered?.isActiveByHand || isEdited ? [] : [`${shownTraveler} is active`];
  if (remembered) return [];
  const owner = people.find(({ lastWanted: last }) => last.familyName === lastName)?.index;
  const isExplained = record.events.some(
    (event) =>
      (event.kind === 'vanish' && event.person === owner) ||
      (event.kind === 'write' && event.person === owner && event.verb === 'DELETE'),
  );
  return isExplained ? [] : [`${shownTraveler} was made, though nobody left`];
}
