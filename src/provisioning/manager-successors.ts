import { type Identity, isInactive, predecessorOf } from './identity.ts';
import type { Identities } from './store-ports.ts';

/**
 * Finds the user to whom a manager has passed the traveler on: the same person under a new user, whom the reports follow. `travelId` is the
 * traveler to which the reference was resolved.
 */
export async function findHeir(
  { identities }: { identities: Pick<Identities, 'findById' | 'find'> },
  leaver: Identity,
  travelId: string | undefined,
): Promise<Identity | undefined> {
  const { connection, id, origin } = leaver;
  if (!isInactive(leaver) || leaver.travelId !== undefined) return undefined;
  const { successor } = origin;
  const isNamed = successor?.effect === 'passedOn' && successor.connection === connection;
  const named =
    isNamed && successor.id !== undefined ? await identities.findById(connection, successor.id) : undefined;
  if (named) return isLive(named) ? named : undefined;
  // The tombstone of a person who is back has no note of the new user, which has one of the tombstone.
  const linked =
    travelId === undefined ? [] : await identities.find(connection, { by: 'travelId', value: travelId });
  return linked.find((one) => {
    const known = predecessorOf(one, one);
    return isLive(one) && known?.effect === 'passedOn' && known.id === id;
  });
}

/** True for an inactive user whose traveler another person has now. */
export function isReplacedLeaver(identity: Identity): boolean {
  const { travelId, origin } = identity;
  return travelId === undefined && isInactive(identity) && origin.successor?.effect === 'revived';
}

/** True for a user who has the traveler of another person: what was resolved to the traveler before meant that person. */
export function hasTravelerOfAnother(identity: Identity): boolean {
  return predecessorOf(identity, identity)?.effect === 'revived';
}

/** The manager to whom a reference was resolved before. */
interface FormerManager {
  /** The id of the identity; undefined if the reference was never resolved. */
  id: string | undefined;
  /** False if the identity does not exist any more. */
  isKnown: boolean;
  travelId: string | undefined;
}

/** The search for the former manager among those who had the place one after the other stops after this many. */
const LONGEST_CHAIN = 50;

/**
 * True if the user whom a value names now is in the place of the former manager, perhaps after others, and is another person, or may be
 * one. What was resolved belongs to the former manager until the value changes.
 */
export async function isReplacementFor(
  { identities }: { identities: Pick<Identities, 'findById'> },
  found: Identity,
  { id, isKnown, travelId }: FormerManager,
): Promise<boolean> {
  let isOther = false;
  let next: Identity | undefined = id === undefined ? undefined : found;
  for (let step = 0; next && step < LONGEST_CHAIN; step += 1) {
    const known = predecessorOf(next, next);
    if (!known || known.effect === 'bothActive') return false;
    isOther ||= known.verdict !== 'same';
    // The traveler had no identity of an IdP: the imported one is removed when its traveler or its place is taken.
    if (known.id === undefined) return isOther && (!isKnown || known.travelId === travelId);
    if (known.id === id) return isOther;
    next = await identities.findById(known.connection, known.id);
  }
  return false;
}

function isLive({ deletedAt }: Identity): boolean {
  return deletedAt === undefined;
}
