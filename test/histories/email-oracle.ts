import type { TravelUser } from '../../src/translator/traveler.ts';
import type { Person, Present } from './idp.ts';
import type { Scene } from './oracle.ts';

const PARKING = /@jetbridge\.invalid$/;
const HAND = /@hand\.example$/;
/** More corrections of one field in an hour are not made. */
const CORRECTIONS = 3;

/** Everybody has the address that they want, unless somebody else has it who has a right to it. */
export function emailFaults(scene: Scene): string[] {
  return scene.people.flatMap((person) => {
    const { present } = person;
    if (!present) return [];
    const traveler = travelerOf(person, scene);
    const faults = traveler ? linkedFaults(person, present, traveler, scene) : unlinkedFaults(present, scene);
    return faults.map((fault) => `p${person.index}: ${fault}`);
  });
}

function linkedFaults(person: Person, present: Present, traveler: TravelUser, scene: Scene): string[] {
  const wanted = key(present.wish.email);
  const has = key(traveler.email);
  if (has === wanted || scene.ledger.guarded.has(traveler.id)) return [];
  if (HAND.test(has) && isDriftKept(person, traveler, scene)) return [];
  const holder = holderOf(wanted, scene);
  if (!holder) return [`has ${has} and wants ${wanted}, which is free`];
  const ring = ringOf(person, scene);
  if (ring) return [`has ${has} and wants ${wanted}, in the ring ${ring.map((one) => `p${one}`).join(' ')}`];
  if (HAND.test(has)) return [];
  const known = scene.ledger.emails.get(person.index);
  if (known?.has(has) || has === key(present.wish.userName) || PARKING.test(has)) return [];
  return [`has ${has}, which nobody ever wanted for them; ${wanted} is taken`];
}

/** Without a traveler is right only who is inactive, or whose addresses others have. */
function unlinkedFaults(present: Present, scene: Scene): string[] {
  const { active, email, userName } = present.wish;
  if (!active) return [];
  return [key(email), ...(userName.includes('@') ? [key(userName)] : [])].flatMap((address) => {
    const holder = holderOf(address, scene);
    if (!holder) return [`has no traveler, though ${address} is free`];
    const isLinked = scene.people.some(({ index }) => scene.links.get(index) === holder.id);
    const wasLinked = scene.ledger.memory.get(holder.id)?.owner || !scene.ledger.strangers.has(holder.id);
    if (isLinked || wasLinked || scene.ledger.guarded.has(holder.id) || address !== key(email)) return [];
    return [`has no traveler, though a stranger has ${address} (${holder.id})`];
  });
}

/** The people who wait for each other's addresses in a ring that this person is in, all of one connection. */
function ringOf(person: Person, scene: Scene): number[] | undefined {
  const ring: number[] = [];
  for (let next: Person | undefined = person; next?.present; ) {
    if (next.present.connection !== person.present?.connection || ring.length > scene.people.length)
      return undefined;
    const traveler = travelerOf(next, scene);
    if (!traveler || scene.ledger.guarded.has(traveler.id)) return undefined;
    if (key(traveler.email) === key(next.present.wish.email)) return undefined;
    ring.push(next.index);
    const holder = holderOf(key(next.present.wish.email), scene);
    next = scene.people.find(({ index }) => holder && scene.links.get(index) === holder.id);
    if (next === person) return ring;
  }
  return undefined;
}

/** An address that was set by hand stays until the IdP writes a new one, or it is corrected. */
function isDriftKept(
  { index, present }: Person,
  { id, email }: TravelUser,
  { ledger: { events, drift, edits } }: Scene,
): boolean {
  if (drift === 'correct') return (edits.get(`${id} email`) ?? 0) > CORRECTIONS;
  const edited = events.findIndex(
    (event) =>
      event.kind === 'edit' && event.traveler === id && event.field === 'email' && event.value === email,
  );
  const isWritten = events.slice(edited + 1).some(
    (event) =>
      event.kind === 'wish' &&
      event.person === index &&
      // A return inherits what was applied; a change back to an address that was applied may be none.
      event.before &&
      event.isNewEmail &&
      event.wish?.email === present?.wish.email,
  );
  return !isWritten;
}

function holderOf(address: string, { travelers }: Scene): TravelUser | undefined {
  return travelers.find(({ email }) => key(email) === address);
}

function travelerOf({ index }: Person, { links, travelers }: Scene): TravelUser | undefined {
  return travelers.find(({ id }) => id === links.get(index));
}

/** Addresses are compared as NFC in lower case. */
function key(address: string): string {
  return address.normalize('NFC').toLowerCase();
}
