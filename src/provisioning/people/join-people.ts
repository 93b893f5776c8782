import { addressKey } from '../../model/addresses.ts';
import { type Identity, isInactive } from '../../model/identity.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { Identities, IdentityChange } from '../../model/store-ports.ts';
import { isAdministrator } from '../../model/traveler.ts';
import { releaseOf, toSuccessor } from './takeover.ts';
import { comparedEmails } from './who-is-who.ts';

/** Two users of whom an admin says that they are one person. */
export interface JoinedPeople {
  /**
   * The user who left, the unclaimed identity of a traveler that is archived or has an address of the newcomer, or an archived traveler that
   * the newcomer's judgement names.
   */
  leaver: Identity | { travelId: string };
  newcomer: Identity;
}

interface JoinDeps {
  identities: Pick<Identities, 'commit'>;
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId'>;
}

/** `stale`: one of the two has changed since it was read. */
export type JoinResult = 'joined' | 'stale' | { refused: string };

/** The time for which calls that were sent for the newcomer's own traveler may arrive late, in milliseconds. */
const LATE_MS = 60_000;

/**
 * Gives a newcomer the traveler of a leaver, with everything that it has. The newcomer's own traveler, if there is one, is archived and
 * gives its address up. The reconciler does the rest.
 */
export async function joinPeople(
  { identities, runtime }: JoinDeps,
  people: JoinedPeople,
): Promise<JoinResult> {
  const refused = refusalOf(people, runtime.now());
  if (refused !== undefined) return { refused };
  const { connection } = people.newcomer;
  const committed = await identities.commit(connection, joinChanges(people, runtime));
  return committed === 'done' ? 'joined' : 'stale';
}

/** Finds the leaver in whose place an identity is, as far as the two can be joined. */
export async function findPredecessor(
  { identities }: { identities: Pick<Identities, 'findById'> },
  newcomer: Identity,
): Promise<JoinedPeople['leaver'] | undefined> {
  const { connection, id, travelId } = newcomer.progress.predecessor ?? {};
  if (connection !== undefined && id !== undefined) return identities.findById(connection, id);
  return travelId === undefined ? undefined : { travelId };
}

/** Says why two users cannot be joined, in a sentence; undefined if they can. */
function refusalOf({ leaver, newcomer }: JoinedPeople, now: number): string | undefined {
  const involved: Identity[] = 'id' in leaver ? [newcomer, leaver] : [newcomer];
  const isBusy = involved.some(
    ({ leasedUntil = 0, creating }) => leasedUntil > now || creating !== undefined,
  );
  if (!newcomer.claimed || isInactive(newcomer))
    return 'The second person is not an active user of an identity provider.';
  const fault = 'id' in leaver ? leaverFaultOf(leaver, newcomer) : undefined;
  if (fault !== undefined) return fault;
  if (newcomer.progress.scope !== undefined)
    return 'The second person is not in the scope of the mapping, or that is not known yet: the archived traveler would stay archived.';
  if (newcomer.observed && isAdministrator(newcomer.observed))
    return 'The traveler of the second person administers the travel service.';
  return isBusy ? 'One of the two is being changed just now; try again.' : undefined;
}

function leaverFaultOf(leaver: Identity, newcomer: Identity): string | undefined {
  if (leaver.travelId === undefined) return 'The first person has no traveler.';
  if (leaver.claimed && !isInactive(leaver))
    return 'The first person is active: deactivate that user in the identity provider first.';
  const { observed } = leaver;
  if (leaver.claimed || observed?.archived === true) return undefined;
  const isOwnAddress = comparedEmails(newcomer.desired).some(
    (email) => observed !== undefined && addressKey(email) === addressKey(observed.email),
  );
  if (!observed || !isOwnAddress) return 'The first person is not archived in the travel service.';
  return isAdministrator(observed)
    ? 'The traveler of the first person administers the travel service.'
    : undefined;
}

function joinChanges({ leaver, newcomer }: JoinedPeople, runtime: JoinDeps['runtime']): IdentityChange[] {
  const { id, version } = newcomer;
  const claimed = 'id' in leaver && leaver.claimed ? leaver : undefined;
  const joined: Identity = {
    ...newcomer,
    version: version + 1,
    state: 'dirty',
    attempts: 0,
    nextAttemptAt: undefined,
    writtenAt: runtime.now(),
  };
  return [
    { kind: 'update', identity: joined, expected: version },
    { kind: 'unlink', id },
    ...(newcomer.travelId === undefined
      ? []
      : [{ kind: 'insert', identity: tombstoneOf(newcomer, runtime) } as const]),
    ...(claimed ? [releaseOf(claimed, toSuccessor('joined', newcomer))] : []),
    { kind: 'link', id, travelId: leaver.travelId ?? '', applied: claimed?.applied ?? {} },
  ];
}

/** The tombstone that keeps the newcomer's own traveler until it is archived and has given up its address. */
function tombstoneOf(newcomer: Identity, { newId, now, wallClock }: JoinDeps['runtime']): Identity {
  const deletedAt = wallClock();
  const writtenAt = now();
  const origin = { successor: toSuccessor('joined', newcomer) };
  return {
    ...newcomer,
    ...{ id: newId(), version: 1, revision: 1, state: 'dirty', deletedAt, lastModified: deletedAt, origin },
    ...{
      attempts: 0,
      nextAttemptAt: undefined,
      leasedUntil: undefined,
      hold: undefined,
      decision: undefined,
    },
    ...{ waitingFor: undefined, findings: [] },
    ...{ writtenAt, progress: {}, readAgainAt: writtenAt + LATE_MS },
  };
}
