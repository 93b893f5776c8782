import type { TravelUser } from '../../src/translator/traveler.ts';
import { emailFaults } from './email-oracle.ts';
import { type Event, expectationOf, type Remembered, type RuleChange } from './expectation.ts';
import type { Person } from './idp.ts';
import { managerFaults } from './manager-oracle.ts';
import { type Catalog, type Field, fields, fieldValue, type MappedAttribute } from './traveler-fields.ts';

/** What the oracle knows of a history besides what it reads. */
export interface Ledger {
  catalog: Catalog;
  drift: 'report' | 'correct';
  onReturn: 'revive' | 'separate';
  /** Since the last rest. */
  events: Event[];
  rules: Set<MappedAttribute>;
  rulesBefore: Set<MappedAttribute>;
  memory: Map<string, Remembered>;
  edits: Map<string, number>;
  /** Every address that a person ever wanted. */
  emails: Map<number, Set<string>>;
  /** Travelers that are or were admins of the travel service: what they become is an admin's decision. */
  guarded: Set<string>;
  /** Travelers that were made by hand, with the person whose address they have. */
  strangers: Map<string, number>;
}

/** One look at everything: people with their links, and travelers. */
export interface Scene {
  people: readonly Person[];
  /** The travel user that each person's SCIM resource is linked to. */
  links: ReadonlyMap<number, string>;
  travelers: readonly TravelUser[];
  ledger: Ledger;
}

/** The ledger of a history that begins. */
export function newLedger(
  catalog: Catalog,
  { drift, onReturn }: Pick<Ledger, 'drift' | 'onReturn'>,
  rules: readonly MappedAttribute[],
): Ledger {
  return {
    ...{
      catalog,
      drift,
      onReturn,
      events: [],
      rules: new Set(rules),
      rulesBefore: new Set(rules),
      memory: new Map(),
    },
    ...{ edits: new Map(), emails: new Map(), strangers: new Map(), guarded: new Set() },
  };
}

/** Everything in a scene at rest that breaks the contract, in words. */
export function faultsOf(scene: Scene): string[] {
  return [
    ...linkFaults(scene),
    ...scene.people.flatMap((person) => fieldFaults(person, scene)),
    ...emailFaults(scene),
    ...managerFaults(scene),
    ...scene.travelers.flatMap((traveler) => unlinkedFaults(traveler, scene)),
    ...scene.travelers.flatMap((traveler) => guardFaults(traveler, scene)),
  ];
}

/** Remembers a scene that was found right, and begins a new stretch of events. */
export function remember(scene: Scene): void {
  const { ledger, travelers, links, people } = scene;
  const memory = new Map<string, Remembered>();
  for (const traveler of travelers) {
    const person = people.find(({ index }) => links.get(index) === traveler.id);
    const old = ledger.memory.get(traveler.id);
    if (person?.present) memory.set(traveler.id, rememberedOf(traveler, person, scene));
    else if (old) memory.set(traveler.id, leftBehind(traveler, old, scene));
    else memory.set(traveler.id, unlinkedTraveler(traveler, scene));
  }
  ledger.memory = memory;
  ledger.events = [];
  ledger.rulesBefore = new Set(ledger.rules);
}

/** The traveler of somebody who has left, or of nobody. */
function leftBehind(traveler: TravelUser, old: Remembered, scene: Scene): Remembered {
  const { people, ledger } = scene;
  const owner = people.find(({ index }) => index === old.owner?.person);
  const last = owner ? rememberedOf(traveler, owner, scene).wanted : old.wanted;
  return {
    ...old,
    ...seen(traveler, scene),
    wanted: last,
    isActiveByHand: !traveler.archived,
    isLeftBehind: true,
    isUncertain: old.isUncertain || isRenamed(old, ledger) || hasLeftBesideNewRule(old, ledger),
  };
}

/** Which externalId a leaver had depends on whether a write between two rests had been carried out. */
function isRenamed({ owner }: Remembered, { events }: Ledger): boolean {
  return events.some(
    (event) =>
      event.kind === 'wish' &&
      event.person === owner?.person &&
      event.wish !== undefined &&
      event.wish.externalId !== owner.externalId,
  );
}

/** A leaver may have gone before a new rule made a field theirs. */
function hasLeftBesideNewRule({ owner }: Remembered, { events, rules, rulesBefore }: Ledger): boolean {
  const isNewRule = [...rules].some((rule) => !rulesBefore.has(rule));
  return (
    isNewRule &&
    events.some((event) => event.kind === 'wish' && event.person === owner?.person && !event.wish)
  );
}

function rememberedOf(traveler: TravelUser, person: Person, scene: Scene): Remembered {
  const { lastConnection: connection, last, index } = person;
  const wanted = new Map(
    fields.flatMap((field): [Field, string | undefined][] => {
      const expected = expect(field, traveler, person, scene).wanted;
      return expected ? [[field, expected.value]] : [];
    }),
  );
  const owner = { person: index, connection, externalId: last.externalId };
  return {
    ...seen(traveler, scene),
    wanted,
    owner,
    isActiveByHand: false,
    isLeftBehind: false,
    isUncertain: false,
  };
}

/** One who was made by hand, or for somebody who came and left between two rests. */
function unlinkedTraveler(traveler: TravelUser, scene: Scene): Remembered {
  const { ledger, people } = scene;
  const author = ledger.strangers.get(traveler.id);
  const person = people.find(({ index, last }) => index === author || last.familyName === traveler.lastName);
  const isUncertain =
    author === undefined ||
    ledger.events.some((event) => event.kind === 'wish' && event.wish?.email === person?.last.email);
  const owner =
    author !== undefined || !person
      ? undefined
      : { person: person.index, connection: person.lastConnection, externalId: person.last.externalId };
  return {
    ...seen(traveler, scene),
    wanted: new Map(),
    owner,
    isUncertain,
    isActiveByHand: !traveler.archived,
    isLeftBehind: false,
  };
}

function seen(traveler: TravelUser, { ledger }: Scene): Pick<Remembered, 'fields' | 'email' | 'isAdmin'> {
  const values = fields.map((field) => [field, fieldValue(traveler, field, ledger.catalog)]);
  const all = Object.fromEntries(values) as Remembered['fields']; // Every field is there.
  return { fields: all, email: traveler.email, isAdmin: isAdmin(traveler) };
}

function isAdmin({ roles = [] }: TravelUser): boolean {
  return roles.includes('admin');
}

/** SCIM changes neither the email nor the roles of an admin, and does not archive one; who returns is un-archived. */
function guardFaults(traveler: TravelUser, { ledger }: Scene): string[] {
  const memory = ledger.memory.get(traveler.id);
  if (!memory?.isAdmin || !isAdmin(traveler)) return [];
  const isEdited = (field: Field | 'email') =>
    ledger.events.some(
      (event) => event.kind === 'edit' && event.traveler === traveler.id && event.field === field,
    );
  const faults = (['archived', 'roles.organizer', 'roles.premium', 'roles.guest'] as const).flatMap(
    (field) => {
      const value = fieldValue(traveler, field, ledger.catalog);
      const isReturn = field === 'archived' && value === 'false';
      if (value === memory.fields[field] || isReturn || isEdited(field)) return [];
      return [`${field} is ${value ?? 'nothing'}`];
    },
  );
  if (traveler.email !== memory.email && !isEdited('email')) faults.push(`email is ${traveler.email}`);
  return faults.map((fault) => `the guarded traveler ${traveler.id} was changed: ${fault}`);
}

function expect(field: Field, traveler: TravelUser, person: Person, { ledger }: Scene) {
  const { events, drift, edits } = ledger;
  const rules: RuleChange = { before: ledger.rulesBefore, now: ledger.rules };
  const { index, present } = person;
  const memory = ledger.memory.get(traveler.id);
  const linked = { traveler: traveler.id, person: index, wish: present?.wish, memory };
  return expectationOf(field, linked, { events, rules, drift, edits });
}

function fieldFaults(person: Person, scene: Scene): string[] {
  const id = scene.links.get(person.index);
  const traveler = scene.travelers.find((one) => one.id === id);
  if (!traveler || scene.ledger.guarded.has(traveler.id)) return [];
  return fields.flatMap((field) => {
    const costCenter = person.present?.wish.costCenter;
    if (field === 'costCenterId' && costCenter !== undefined)
      return costCenterFaults(person, costCenter, traveler, scene);
    const { allowed } = expect(field, traveler, person, scene);
    const value = fieldValue(traveler, field, scene.ledger.catalog);
    if (allowed === 'any' || allowed.has(value)) return [];
    const right = [...allowed].map((one) => one ?? 'nothing').join(' or ');
    return [`p${person.index}: ${field} is ${value ?? 'nothing'}, not ${right} (traveler ${id})`];
  });
}

/** A cost center that is there must be on the traveler; one that is not there leaves what was there before. */
function costCenterFaults(
  { index }: Person,
  name: string,
  traveler: TravelUser,
  { ledger }: Scene,
): string[] {
  const value = fieldValue(traveler, 'costCenterId', ledger.catalog);
  if (!ledger.catalog.costCenters.has(name) || value === name) return [];
  return [`p${index}: costCenterId is ${value ?? 'nothing'}, not ${name} (traveler ${traveler.id})`];
}

function linkFaults({ people, links, travelers, ledger }: Scene): string[] {
  return people.flatMap(({ index, present }) => {
    const id = links.get(index);
    if (id === undefined || !present) return [];
    const faults: string[] = [];
    if (!travelers.some((traveler) => traveler.id === id))
      faults.push(`p${index}: is linked to ${id}, which is not there`);
    const other = people.find((one) => one.index < index && links.get(one.index) === id);
    if (other) faults.push(`p${index}: shares the traveler ${id} with p${other.index}`);
    const { owner, isUncertain } = ledger.memory.get(id) ?? {};
    const isOther =
      !isUncertain &&
      owner?.person === index &&
      owner.connection === present.connection &&
      owner.externalId !== present.wish.externalId;
    if (isOther && ledger.onReturn === 'separate')
      faults.push(`p${index}: has the traveler ${id} of ${owner.externalId}, who was somebody else`);
    return faults;
  });
}

/** Whoever is nobody's is archived, and explained by somebody who left, or was made by hand. */
function unlinkedFaults(traveler: TravelUser, { people, links, ledger }: Scene): string[] {
  const { id, archived, email, lastName } = traveler;
  if (isAdmin(traveler) || ledger.guarded.has(id) || people.some(({ index }) => links.get(index) === id))
    return [];
  const shownTraveler = `traveler ${id} (${email}, ${lastName}) of nobody`;
  const remembered = ledger.memory.get(id);
  const isEdited = ledger.events.some(
    (event) => event.kind === 'edit' && event.traveler === id && event.field === 'archived',
  );
  if (!remembered?.owner && ledger.strangers.has(id)) return [];
  if (!archived) return remembered?.isActiveByHand || isEdited ? [] : [`${shownTraveler} is active`];
  if (remembered) return [];
  const owner = people.find(({ last }) => last.familyName === lastName)?.index;
  const isExplained = ledger.events.some(
    (event) =>
      (event.kind === 'vanish' && event.person === owner) ||
      (event.kind === 'wish' && event.person === owner && event.verb === 'DELETE'),
  );
  return isExplained ? [] : [`${shownTraveler} was made, though nobody left`];
}
