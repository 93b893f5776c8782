import type { Departure, EvidenceRow, PersonalValues } from '../../model/identity.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { nameOf, spellingsOf } from '../../schema/name-spellings.ts';
import { emailsOf, type ScimResource, textOf } from '../../schema/resource.ts';

/** A leaver, and a user who may be the same person. */
export interface Return {
  leaver: Departure;
  newcomer: PersonalValues;
  /** True if both are users of one connection. The externalIds of two connections say nothing about each other. */
  isSameConnection: boolean;
  /** True if the newcomer is the SCIM user of the leaver, activated again. */
  isSameUser: boolean;
  /** True if the newcomer was a user before the leaver left. */
  wasSeenBefore: boolean;
  /** The present time by the wall clock. */
  now: number;
}

/** People of one name who left within this time are taken for the same person, in milliseconds: 90 days. */
const RECENT_MS = 90 * 86_400_000;

/**
 * Decides who a newcomer is: the person who left by the rows 1 and 2, another person by row 3. Row 1: the externalIds say so, or the SCIM
 * user is the same and unchanged. Row 2: a person of the same name returns soon, to the same address or userName.
 */
export function whoIsWho({ leaver, newcomer, ...facts }: Return): EvidenceRow {
  const isUnchanged = leaver.externalId === newcomer.externalId && haveUnchangedNames(leaver, newcomer);
  if (facts.isSameUser && isUnchanged) return 1;
  if (facts.isSameConnection && haveSameExternalId(leaver, newcomer)) return 1;
  const isRecent = facts.now - leaver.at < RECENT_MS;
  const isLikely = haveEqualNames(leaver, newcomer) && shareContact(leaver, newcomer);
  return isRecent && isLikely && !facts.wasSeenBefore ? 2 : 3;
}

/**
 * True if two users of one connection have the same externalId, and it is no userName, address or local part of an address of theirs:
 * those pass to other people.
 */
export function haveSameExternalId(one: PersonalValues, other: PersonalValues): boolean {
  const { externalId } = one;
  if (externalId === undefined || externalId.trim() === '' || externalId !== other.externalId) return false;
  const reused = [...one.contacts, ...other.contacts].flatMap((contact) => [
    foldCase(contact),
    foldCase(contact.replace(/@[^@]*$/u, '')),
  ]);
  return !reused.includes(foldCase(externalId));
}

/** The addresses of a user that are compared, so that a stored departure stays short. */
const MAX_ADDRESSES = 10;

/** Returns the addresses of a user by which people are compared. */
export function comparedEmails(desired: ScimResource): string[] {
  return emailsOf(desired).slice(0, MAX_ADDRESSES);
}

/** Returns the values of a user by which people are compared. */
export function personalValuesOf(desired: ScimResource): PersonalValues {
  const externalId = textOf(desired.externalId);
  const name = nameOf(desired);
  const contacts = [textOf(desired.userName), ...comparedEmails(desired)].filter(
    (text) => text !== undefined,
  );
  return {
    ...(externalId === undefined ? {} : { externalId }),
    ...(name === undefined ? {} : { name }),
    contacts: [...new Set(contacts)],
  };
}

function shareContact(one: PersonalValues, other: PersonalValues): boolean {
  const known = new Set(one.contacts.map(foldCase));
  return other.contacts.some((contact) => known.has(foldCase(contact)));
}

/** True if both names are known and equal, without regard to case, accents, punctuation and what is in brackets. */
export function haveEqualNames(
  one: Pick<PersonalValues, 'name'>,
  other: Pick<PersonalValues, 'name'>,
): boolean {
  const spellings = spellingsOf(one.name);
  return spellingsOf(other.name).some((spelling) => spellings.includes(spelling));
}

function haveUnchangedNames(one: PersonalValues, other: PersonalValues): boolean {
  const isUnknown = spellingsOf(one.name).length === 0 && spellingsOf(other.name).length === 0;
  return isUnknown || haveEqualNames(one, other);
}
