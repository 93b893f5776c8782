import type { TravelUser } from '../../src/translator/traveler.ts';
import type { CurrentUser, Person } from './identity-providers.ts';
import type { ObservedState } from './record.ts';
import { scopeOfPerson } from './standing.ts';

/** Each traveler must have the manager that the user refers to. A link that would close a cycle may be left out. */
export function managerViolations(state: ObservedState): string[] {
  return [...state.people.flatMap((person) => referenceViolations(person, state)), ...cycleViolations(state)];
}

function referenceViolations(person: Person, state: ObservedState): string[] {
  const traveler = travelerOf(person, state);
  const isDecided = state.decided.withoutRules.has(person.index);
  if (!person.current || !traveler || isDecided || state.record.guarded.has(traveler.id)) return [];
  // The traveler of a person who is out of scope keeps the manager.
  if (scopeOfPerson(person, state.record) === 'out') return [];
  const { manager, isUnsure, isCleared, wanted } = wantedManager(person, state);
  const has = traveler.managerId;
  if (isUnsure && has === undefined) return [];
  if (has === wanted) return [];
  if (hasManagerOfCreate(person, traveler, state)) return [];
  // The removal of a manager since the backup is only reported.
  const isReported = has !== undefined || state.record.policies.drift === 'report';
  if (hasRestoredManager(traveler, state) && isReported) return [];
  if (has === undefined && isInCycle(person, state)) return [];
  // While the manager has no traveler, the traveler keeps the former manager as long as the reference is the same.
  if (manager && manager !== person && wanted === undefined && !isCleared) return [];
  const raw = person.current.wanted.manager ?? 'nobody';
  // The id that a person had before a return still refers to the traveler.
  if (!manager && isId.test(raw) && [...state.links.values()].includes(has ?? '')) return [];
  return [`p${person.index}: has the manager ${has ?? 'nobody'}, not ${wanted ?? 'nobody'} (${raw})`];
}

/** Whom the reference of a user means, and the traveler that the own one must have as its manager. */
function wantedManager(person: Person, state: ObservedState) {
  const replaced = replacementOf(person, state);
  const manager = replaced === 'sure' ? undefined : managerOf(person, state);
  const isCleared = manager?.current?.wanted.active === false;
  const wanted = manager && manager !== person && !isCleared ? state.links.get(manager.index) : undefined;
  return { manager, isUnsure: replaced === 'unsure', isCleared, wanted };
}

/** The manager whom a user's reference means: the one who had the value when the reference was first resolved. */
export interface MeantManager {
  /** The SCIM id of the report. */
  report: string;
  raw: string;
  /** The SCIM id and the externalId of the manager; undefined if they are not known. */
  manager: { id: string; externalId: string } | undefined;
}

/** Returns whom the references mean. It stays until the value changes, also while another person has the value. */
export function meantManagers(state: ObservedState): Map<number, MeantManager> {
  const meant = new Map<number, MeantManager>();
  for (const person of state.people) {
    const { current, index } = person;
    const raw = current?.wanted.manager;
    if (!current || raw === undefined) continue;
    const known = knownManager(person, state);
    const manager = managerOf(person, state);
    const link = manager && state.links.get(manager.index);
    const isResolved = link !== undefined && travelerOf(person, state)?.managerId === link;
    const resolved = isResolved && manager?.current ? toMeant(manager.current) : undefined;
    meant.set(index, { report: current.id, raw, manager: resolved ?? known?.manager });
  }
  return meant;
}

function toMeant({ id, wanted: { externalId } }: CurrentUser): MeantManager['manager'] {
  return { id, externalId };
}

function knownManager({ index, current }: Person, { record }: ObservedState): MeantManager | undefined {
  const known = record.meantManagers.get(index);
  const isSame = known?.report === current?.id && known?.raw === current?.wanted.manager;
  const isRewritten = record.events.some(
    (event) => event.kind === 'write' && event.person === index && event.wanted?.manager !== known?.raw,
  );
  return isSame && !isRewritten ? known : undefined;
}

/**
 * Tells whether the user who has the value of a reference now is another person than the one who is meant, in whose place the user is. The
 * traveler then has no manager.
 */
function replacementOf(person: Person, state: ObservedState): 'sure' | 'unsure' | undefined {
  const manager = managerOf(person, state);
  if (!manager?.current || manager.externalIds === 1) return undefined;
  const meant = knownManager(person, state)?.manager;
  // An admin may have said that both are one person.
  if (!meant || state.record.given.has(state.links.get(manager.index) ?? '')) return 'unsure';
  const { id, wanted } = manager.current;
  return meant.id === id || meant.externalId === wanted.externalId ? undefined : 'sure';
}

const isId = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

function managerOf({ current }: Person, { people }: ObservedState): Person | undefined {
  const raw = current?.wanted.manager?.toLowerCase();
  if (!current || raw === undefined) return undefined;
  const inConnection = people.filter((one) => one.current?.connection === current.connection);
  return inConnection.find((one) => one.current?.id === raw || one.current?.wanted.userName === raw);
}

function isInCycle(person: Person, state: ObservedState): boolean {
  const managerNow = (one: Person) => managerOf(one, state) ?? managerByFormerId(one, state);
  const seen = new Set<Person>();
  let next = managerNow(person);
  while (next && next !== person && !seen.has(next)) {
    seen.add(next);
    next = managerNow(next);
  }
  return next === person;
}

/** The manager whom the traveler has, if the user refers to an id that nobody has any more: that of the manager before a return. */
function managerByFormerId(person: Person, state: ObservedState): Person | undefined {
  if (!isId.test(person.current?.wanted.manager ?? '')) return undefined;
  const manager = travelerOf(person, state)?.managerId;
  return state.people.find(({ index }) => manager !== undefined && state.links.get(index) === manager);
}

/** After a restore, a manager who was sent since the backup is a value of others; so is the removal of one. */
function hasRestoredManager({ id, managerId }: TravelUser, { record: { restored } }: ObservedState): boolean {
  return restored.has(id) && restored.get(id)?.managerId === managerId;
}

/** Returns the managers of the travelers which have one that a lost create has sent and the bridge takes for a value of others. */
export function managersOfCreates(state: ObservedState): Map<string, string> {
  const { people, links, travelers, record } = state;
  const kept = travelers.flatMap((traveler): [string, string][] => {
    const { id, managerId } = traveler;
    const person = people.find(({ index }) => links.get(index) === id);
    const isKept = person
      ? hasManagerOfCreate(person, traveler, state)
      : record.managersOfCreates.get(id) === managerId;
    return isKept && managerId !== undefined ? [[id, managerId]] : [];
  });
  return new Map(kept);
}

/**
 * True if the manager is one whom a lost create has sent, and whom the IdP has replaced before the bridge took its traveler for an existing one.
 * It stays until the reference means somebody with a traveler.
 */
function hasManagerOfCreate(person: Person, { id, managerId }: TravelUser, state: ObservedState): boolean {
  const { record, decided, links } = state;
  const { index, current } = person;
  if (!current || managerId === undefined || wantedManager(person, state).wanted === managerId) return false;
  if (record.memory.has(id)) return record.managersOfCreates.get(id) === managerId;
  if (!decided.takenForExisting.has(id)) return false;
  const stated = record.events.flatMap((event) =>
    event.kind === 'write' && event.person === index ? [event.wanted?.manager] : [],
  );
  return [record.statedBefore.users.get(index)?.wanted.manager, ...stated].some((manager) => {
    const then = { ...person, current: { ...current, wanted: { ...current.wanted, manager } } };
    return links.get(managerOf(then, state)?.index ?? -1) === managerId;
  });
}

/** The bridge knows only the managers whom it sent itself, so a manager who is a value of others may close a cycle. */
function cycleViolations(state: ObservedState): string[] {
  const ofCreates = managersOfCreates(state);
  const travelers = state.travelers.filter(
    (traveler) => !hasRestoredManager(traveler, state) && !ofCreates.has(traveler.id),
  );
  const managers = new Map(travelers.map(({ id, managerId }) => [id, managerId]));
  return travelers.flatMap(({ id }) => {
    const seen = new Set<string>();
    let next = managers.get(id);
    while (next !== undefined && next !== id && !seen.has(next)) {
      seen.add(next);
      next = managers.get(next);
    }
    return next === id ? [`traveler ${id} is in a cycle of managers`] : [];
  });
}

function travelerOf({ index }: Person, { links, travelers }: ObservedState): TravelUser | undefined {
  return travelers.find(({ id }) => id === links.get(index));
}
