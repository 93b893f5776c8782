import type { Connection } from '../../model/connection.ts';
import {
  type Departure,
  type EvidenceRow,
  type Identity,
  isInactive,
  type Succession,
} from '../../model/identity.ts';
import type { IdentityChange } from '../../model/store-ports.ts';
import { personalValuesOf, whoIsWho } from './who-is-who.ts';

/** Returns the values that a leaver had at its departure. For a user who leaves now these are the present ones. */
export function departureOf({
  desired,
  origin,
  deletedAt,
  lastModified,
}: Pick<Identity, 'desired' | 'origin' | 'deletedAt' | 'lastModified'>): Departure {
  return origin.departure ?? { ...personalValuesOf(desired), at: deletedAt ?? lastModified };
}

/**
 * True for a user whose traveler another user may take over: it is deleted or deactivated, and has a traveler. One whose person an admin has
 * joined with another user keeps what it has.
 */
export function isLeaver(identity: Identity): boolean {
  const { claimed, travelId, creating, origin } = identity;
  const hasTraveler = travelId !== undefined || creating !== undefined;
  return claimed && isInactive(identity) && hasTraveler && origin.successor?.row !== 'joined';
}

/**
 * The tolerated difference between the clocks by which two users were stored, in milliseconds: those of two processes, or of two servers
 * of the database, of which one took over from the other.
 */
const CLOCK_DIFFERENCE_MS = 15 * 60_000;

/** A user who may be the leaver. */
type Newcomer = Pick<Identity, 'connection' | 'id' | 'desired' | 'createdAt'>;

/**
 * Judges whether a newcomer is the leaver in whose place it is. `now` is the time by the wall clock; a user who is just being created
 * (`isNew`) was never seen before, whatever the clocks say.
 */
export function judgeNewcomer(
  leaver: Identity,
  newcomer: Newcomer,
  { now, isNew = false }: { now: number; isNew?: boolean },
): EvidenceRow {
  const departure = departureOf(leaver);
  const isSameConnection = leaver.connection === newcomer.connection;
  const isSameUser = isSameConnection && leaver.id === newcomer.id;
  return whoIsWho({
    leaver: departure,
    newcomer: personalValuesOf(newcomer.desired),
    ...{ isSameConnection, isSameUser, now },
    wasSeenBefore: !isSameUser && !isNew && newcomer.createdAt < departure.at - CLOCK_DIFFERENCE_MS,
  });
}

/** Returns what the newcomer keeps of a judgement. */
export function toPredecessor(
  row: Succession['row'],
  { connection, id, travelId }: Pick<Identity, 'connection' | 'id' | 'travelId'>,
): Succession {
  return { row, connection, id, ...(travelId === undefined ? {} : { travelId }) };
}

/** Returns what the leaver keeps of a judgement. */
export function toSuccessor(
  row: Succession['row'],
  { connection, id }: Pick<Identity, 'connection' | 'id'>,
): Succession {
  return { row, connection, id };
}

/**
 * Returns what a newcomer who has taken a traveler over keeps: it is in the place in which the leaver was. Of a leaver in another connection,
 * it keeps that the traveler was there.
 */
export function predecessorAfterTakeover(
  row: Succession['row'],
  leaver: Identity,
  { id: connection }: Pick<Connection, 'id'>,
): Succession | undefined {
  const moved = leaver.connection === connection ? undefined : toPredecessor(row, leaver);
  return leaver.progress.predecessor ?? moved;
}

/** Returns the change that takes the traveler away from a leaver. */
export function releaseOf(
  { connection, id, leasedUntil, applied, origin }: Identity,
  successor: Succession,
): Extract<IdentityChange, { kind: 'giveUpTraveler' }> {
  return { kind: 'giveUpTraveler', connection, id, leasedUntil, applied, origin: { ...origin, successor } };
}
