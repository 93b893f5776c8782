import type { TravelUser } from '../../src/translator/traveler.ts';
import type { CurrentUser, Person } from './identity-providers.ts';
import type { ObservedState } from './record.ts';
import { isScopeDiscarded, scopeOfPerson, scopesSince } from './standing.ts';

const PARKING = /@jetbridge\.invalid$/;
const HAND = /@hand\.example$/;
/** The bridge corrects one field at most this often within an hour. */
const CORRECTIONS = 3;

/** Each traveler must have the wanted address, unless another person has it rightfully. */
export function emailViolations(state: ObservedState): string[] {
  return state.people.flatMap((person) => {
    const { current } = person;
    if (!current || state.decided.withoutRules.has(person.index)) return [];
    const traveler = travelerOf(person, state);
    const faults = traveler
      ? linkedViolations(person, current, traveler, state)
      : unlinkedEmailViolations(person, current, state);
    const waits = isKeptByLeaver(person, current, state)
      ? [`waits for ${current.wanted.email}, which a leaver keeps`]
      : [];
    return [...faults, ...waits].map((fault) => `p${person.index}: ${fault}`);
  });
}

/** The archived traveler of an inactive user gives the address up to an active one who wants it. */
function isKeptByLeaver(person: Person, { wanted }: CurrentUser, state: ObservedState): boolean {
  const { record, decided, people, links } = state;
  if (!wanted.active || scopeOfPerson(person, record) !== 'in') return false;
  const holder = holderOf(key(wanted.email), state);
  const leaver = people.find((one) => one !== person && links.get(one.index) === holder?.id);
  if (!holder?.archived || !leaver?.current || leaver.current.wanted.active) return false;
  // Who has an address that was set by hand, or sent since the backup of a restored database, does not wait.
  const own = travelerOf(person, state);
  if (own && HAND.test(key(own.email)) && isDriftKept(person, own, state)) return false;
  if (own && isAsRestored(own, person, state)) return false;
  const { withoutRules } = decided;
  const isUndecided = [person, leaver].some(
    ({ index }) => withoutRules.has(index) || record.guarded.has(links.get(index) ?? ''),
  );
  return !isUndecided && scopeOfPerson(leaver, record) === 'in';
}

function linkedViolations(
  person: Person,
  current: CurrentUser,
  traveler: TravelUser,
  state: ObservedState,
): string[] {
  const wanted = key(current.wanted.email);
  const has = key(traveler.email);
  if (has === wanted || state.record.guarded.has(traveler.id)) return [];
  // While an admin refuses somebody else's traveler to a person, it stays as the leaver had it.
  if (scopeOfPerson(person, state.record) === 'out') return leftOutViolations(person, traveler, state);
  if (HAND.test(has) && isDriftKept(person, traveler, state)) return [];
  if (isAsRestored(traveler, person, state)) return [];
  // The traveler of a leaver who gave the address to somebody stays parked until its person returns.
  if (!current.wanted.active && PARKING.test(has)) return [];
  const holder = holderOf(wanted, state);
  // The travel API has not carried out a whole PATCH; the bridge sends only `archived` again soon.
  if (!holder && state.record.disobedient.has(traveler.id)) return [];
  if (!holder && isGivenUp(current, traveler, state)) return [];
  if (!holder) return [`has ${has} and wants ${wanted}, which is free`];
  const ring = findSwapCycle(person, state);
  if (ring) return [`has ${has} and wants ${wanted}, in the ring ${ring.map((one) => `p${one}`).join(' ')}`];
  // One that was set by hand, or sent since the backup of a restored database, stays while the wanted one is taken.
  if (HAND.test(has) || state.record.restored.get(traveler.id)?.email === traveler.email) return [];
  const known = state.record.emails.get(person.index);
  if (known?.has(has) || has === key(current.wanted.userName) || PARKING.test(has)) return [];
  return [`has ${has}, which nobody ever wanted for them; ${wanted} is taken`];
}

/**
 * The scope leaves a person out: the traveler keeps the address, unless it was another one while the person was in scope, or set by hand. A parking
 * address, which receives no mail, gives way to an own one.
 */
function leftOutViolations(
  person: Person,
  { id, email }: TravelUser,
  { record: { memory, events, emails, ...record }, record: all }: ObservedState,
): string[] {
  const has = key(email);
  const isSame = memory.get(id)?.email === email;
  const isEdited = events.some(
    (event) =>
      event.kind === 'edit' && event.traveler === id && event.field === 'email' && event.value === email,
  );
  // A linked user who is inactive is reconciled as without a scope.
  const wasInactive = events.some(
    (event) => event.kind === 'write' && event.person === person.index && event.wanted?.active === false,
  );
  const wasIn = wasInactive || !memory.has(id) || scopesSince(person, all).some((scope) => scope !== 'out');
  const isOwn = emails.get(person.index)?.has(has) || has === key(person.current?.wanted.userName ?? '');
  if (PARKING.test(memory.get(id)?.email ?? '') && isOwn) return [];
  if (isSame || isEdited || record.uncertain.has(id)) return [];
  if (wasIn && (emails.get(person.index)?.has(has) || PARKING.test(has))) return [];
  return [`has ${has} and is out of scope; the address was ${memory.get(id)?.email}`];
}

/**
 * A leaver gives the address up to an active person who waits for it, also if an admin has discarded the rules by which that one gets it, or
 * while it is not known whether that one is in scope.
 */
function isGivenUp(
  { wanted }: CurrentUser,
  { archived, email }: TravelUser,
  { people, decided, record }: ObservedState,
): boolean {
  const isAwaited = people.some((person) => {
    const { index, current } = person;
    const mayGetIt = decided.withoutRules.has(index) || scopeOfPerson(person, record) === 'unresolved';
    return mayGetIt && current?.wanted.active && key(current.wanted.email) === key(wanted.email);
  });
  return isAwaited && !wanted.active && archived && PARKING.test(email);
}

/** A person may be without a traveler only while inactive, or while others have the addresses. */
function unlinkedEmailViolations(person: Person, current: CurrentUser, state: ObservedState): string[] {
  const { index } = person;
  const { active, email, userName } = current.wanted;
  if (!active) return [];
  if (scopeOfPerson(person, state.record) !== 'in' || isScopeDiscarded(state.record)) return [];
  // An admin has refused the traveler of an admin of the travel service to the person, which may have any address.
  if (state.decided.withoutLink.has(index)) return [];
  return [key(email), ...(userName.includes('@') ? [key(userName)] : [])].flatMap((address) => {
    const holder = holderOf(address, state);
    if (!holder) return [`has no traveler, though ${address} is free`];
    const wasLinked = state.record.memory.get(holder.id)?.owner || !state.record.strangers.has(holder.id);
    const isGuarded = state.record.guarded.has(holder.id);
    // The traveler of a leaver of a restored database, active again since the backup, is as one that was activated by hand.
    const isActiveLeaver = state.decided.ofLeavers.has(holder.id) && !holder.archived;
    if (isLinked(holder, state) || wasLinked || isGuarded || isActiveLeaver || address !== key(email))
      return [];
    return [`has no traveler, though a stranger has ${address} (${holder.id})`];
  });
}

function isLinked({ id }: TravelUser, { people, links }: ObservedState): boolean {
  return people.some(({ index }) => links.get(index) === id);
}

/** After a restore, an address that was sent since the backup is drift, but for a parking address of an active person. */
function isAsRestored(
  { id, email }: TravelUser,
  { current }: Person,
  { record: { policies, restored } }: ObservedState,
): boolean {
  const isCorrected = PARKING.test(email) && current?.wanted.active === true;
  return policies.drift === 'report' && restored.get(id)?.email === email && !isCorrected;
}

/**
 * The people who wait for each other's addresses in a cycle with this person. One whom discarded rules hold waits for nothing, and neither does
 * one to whom an admin refuses the traveler.
 */
function findSwapCycle(person: Person, state: ObservedState): number[] | undefined {
  const ring: number[] = [];
  for (let next: Person | undefined = person; next?.current; ) {
    if (ring.length > state.people.length) return undefined;
    const traveler = travelerOf(next, state);
    const { withoutRules } = state.decided;
    if (!traveler || withoutRules.has(next.index)) return undefined;
    if (state.record.guarded.has(traveler.id) || isAsRestored(traveler, next, state)) return undefined;
    if (scopeOfPerson(next, state.record) === 'out') return undefined;
    if (key(traveler.email) === key(next.current.wanted.email)) return undefined;
    ring.push(next.index);
    const holder = holderOf(key(next.current.wanted.email), state);
    next = state.people.find(({ index }) => holder && state.links.get(index) === holder.id);
    if (next === person) return ring;
  }
  return undefined;
}

/** An address that was set by hand stays until the IdP writes a new one, or it is corrected. */
function isDriftKept(
  { index, current }: Person,
  { id, email }: TravelUser,
  { record: { events, policies, edits } }: ObservedState,
): boolean {
  if (policies.drift === 'correct') return (edits.get(`${id} email`) ?? 0) > CORRECTIONS;
  const edited = events.findIndex(
    (event) =>
      event.kind === 'edit' && event.traveler === id && event.field === 'email' && event.value === email,
  );
  const isWritten = events.slice(edited + 1).some(
    (event) =>
      event.kind === 'write' &&
      event.person === index &&
      // A return inherits what was applied; a change back to an address that was applied may be none.
      event.before &&
      event.isNewEmail &&
      event.wanted?.email === current?.wanted.email,
  );
  return !isWritten;
}

function holderOf(address: string, { travelers }: ObservedState): TravelUser | undefined {
  return travelers.find(({ email }) => key(email) === address);
}

function travelerOf({ index }: Person, { links, travelers }: ObservedState): TravelUser | undefined {
  return travelers.find(({ id }) => id === links.get(index));
}

/** Addresses are compared as NFC in lower case. */
function key(address: string): string {
  return address.normalize('NFC').toLowerCase();
}
