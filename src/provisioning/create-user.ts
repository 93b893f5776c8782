import type { ScimResource } from '../schema/resource.ts';
import { toTravel } from '../translator/to-travel.ts';
import type { Connection } from './connection.ts';
import { addressKey, findClaimant, isParkingAddress } from './email-conflicts.ts';
import { isAdministrator } from './guard.ts';
import type { Identity, LateCalls, Origin } from './identity.ts';
import { isResetPending } from './ownership.ts';
import { ProvisioningError } from './provisioning-error.ts';
import type { RulesSnapshots } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Identities, IdentityChange, IdentityMatch } from './store-ports.ts';
import { canBeTakenOver, isDifferentPerson } from './takeover.ts';

/** What deciding about a POST needs. */
export interface CreateUserDeps {
  identities: Pick<Identities, 'find' | 'findHolder' | 'findWaiters'>;
  rulesSnapshots: Pick<RulesSnapshots, 'lastKnown'>;
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId'>;
}

/** The identity that a POST makes, and the commit that makes it. */
export interface CreatedUser {
  identity: Identity;
  changes: IdentityChange[];
}

/**
 * Decides what a POST is: a new user; somebody who was in the travel service before and is taken over; or somebody who
 * returns, and gets the traveler back. Throws a conflict when the userName is taken, or the address is a person's of
 * another connection.
 */
export async function createUser(
  arrivals: CreateUserDeps,
  connection: Connection,
  desired: ScimResource,
): Promise<CreatedUser> {
  const userName = String(desired.userName);
  const email = wantedEmail(arrivals, connection, desired);
  const namesakes = await liveMatches(arrivals, connection, { by: 'userName', value: userName });
  if (namesakes.some(({ claimed }) => claimed)) throw conflict();
  const unclaimed = (await unclaimedAt(arrivals, connection, email)) ?? namesakes[0];
  if (unclaimed) return claimImportedUser(arrivals, connection, { unclaimed, namesakes, desired });
  const back = await tombstoneOf(arrivals, connection, { desired, userName, email });
  if (back) return restoreUser(arrivals, connection, { tombstone: back, desired });
  const identity = newIdentity(arrivals.runtime, connection, desired);
  if (email === undefined) return { identity, changes: [{ kind: 'insert', identity }] };
  const { account } = connection;
  const holder = await arrivals.identities.findHolder(account, { travelEmail: email });
  const maker = await arrivals.identities.findHolder(account, { creating: email });
  const claimant = await findClaimant(arrivals, connection, { email });
  for (const one of [holder, maker, claimant])
    if (one && one.connection !== connection.id && one.deletedAt === undefined) throw conflict();
  // Reserved in the same commit, so that of two connections with one new person only one can have it.
  const reserved = holder || maker || claimant ? identity : { ...identity, creating: email };
  return { identity: reserved, changes: [{ kind: 'insert', identity: reserved }] };
}

function wantedEmail(
  arrivals: CreateUserDeps,
  connection: Connection,
  desired: ScimResource,
): string | undefined {
  const { rules, lookups } = arrivals.rulesSnapshots.lastKnown(connection);
  const { fields, fallbackEmail } = toTravel(rules, desired, { lookups, references: new Map() });
  const email = fields.email;
  const wanted = email?.kind === 'value' && typeof email.value === 'string' ? email.value : fallbackEmail;
  return wanted !== undefined && isParkingAddress(connection, wanted) ? undefined : wanted;
}

async function unclaimedAt(
  arrivals: CreateUserDeps,
  connection: Connection,
  email: string | undefined,
): Promise<Identity | undefined> {
  if (email === undefined) return undefined;
  const found = await liveMatches(arrivals, connection, { by: 'travelEmail', value: email });
  return found.find(({ claimed }) => !claimed);
}

async function liveMatches(
  arrivals: CreateUserDeps,
  connection: Connection,
  match: IdentityMatch,
): Promise<Identity[]> {
  return (await arrivals.identities.find(connection.id, match)).filter(
    ({ deletedAt }) => deletedAt === undefined,
  );
}

/** An active one keeps its SCIM id, which an IdP may have seen; an archived one returns under a new id. */
function claimImportedUser(
  arrivals: CreateUserDeps,
  connection: Connection,
  { unclaimed, namesakes, desired }: { unclaimed: Identity; namesakes: Identity[]; desired: ScimResource },
): CreatedUser {
  if (connection.policies.onExistingUser === 'refuse') throw conflict();
  const inTheWay = namesakes.filter(({ id }) => id !== unclaimed.id);
  const changes: IdentityChange[] = inTheWay.map(({ id }) => ({ kind: 'deleteUnclaimed', id }));
  if (unclaimed.observed?.archived) {
    const { travelId, observed } = unclaimed;
    const identity: Identity = {
      ...newIdentity(arrivals.runtime, connection, desired),
      travelId,
      observed,
    };
    return {
      identity,
      changes: [...changes, { kind: 'deleteUnclaimed', id: unclaimed.id }, { kind: 'insert', identity }],
    };
  }
  const identity: Identity = {
    ...withNextVersion(unclaimed, arrivals.runtime),
    desired,
  };
  return { identity, changes: [...changes, { kind: 'update', identity, expected: unclaimed.version }] };
}

/**
 * By externalId, then userName, then the address of the traveler that is out of use. Of another connection of the account
 * only by the address, as the other two belong to one IdP.
 */
async function tombstoneOf(
  arrivals: CreateUserDeps,
  connection: Connection,
  { desired, userName, email }: { desired: ScimResource; userName: string; email: string | undefined },
): Promise<Identity | undefined> {
  const matches: IdentityMatch[] = [];
  if (typeof desired.externalId === 'string') matches.push({ by: 'externalId', value: desired.externalId });
  matches.push({ by: 'userName', value: userName });
  if (email !== undefined) matches.push({ by: 'travelEmail', value: email });
  for (const match of matches) {
    const found = await arrivals.identities.find(connection.id, match);
    const tombstone = found.find(
      (one) => canBeTakenOver(one) && (one.travelId !== undefined || one.creating !== undefined),
    );
    if (tombstone) return tombstone;
  }
  if (email === undefined) return undefined;
  const { account } = connection;
  const holder = await arrivals.identities.findHolder(account, { travelEmail: email });
  const maker = await arrivals.identities.findHolder(account, { creating: email });
  return [holder, maker].find((one) => one && canBeTakenOver(one));
}

interface Return {
  tombstone: Identity;
  desired: ScimResource;
}

/** The new identity inherits what was applied, so that roles and fields no longer wanted are removed. */
function restoreUser(arrivals: CreateUserDeps, connection: Connection, back: Return): CreatedUser {
  const { tombstone, desired } = back;
  const { travelId, applied, creating, leasedUntil, progress } = tombstone;
  const { onReturn } = connection.policies;
  const fresh = newIdentity(arrivals.runtime, connection, desired);
  const isOther = isDifferentPerson(tombstone, fresh, { isNew: true });
  // Whoever left before the traveler was reset leaves that to be done.
  const mustReset = isOther || isResetPending(tombstone, tombstone);
  const isAdmin = tombstone.observed !== undefined && isAdministrator(tombstone.observed);
  if (isOther && onReturn === 'separate' && connection.parkingDomain !== undefined && !isAdmin)
    return createBesideLeaver(tombstone, fresh);
  // An archive that is under way would undo the return: wait until it has surely arrived, and look before the plan.
  const isUnderWay = leasedUntil !== undefined && leasedUntil > arrivals.runtime.now();
  const { announced, reservation } = progress;
  const late = isUnderWay ? withLateArchive(progress.late, leasedUntil + connection.lateMs) : progress.late;
  const isMoved = tombstone.connection !== connection.id;
  const origin: Origin = {
    ...(mustReset ? { [onReturn === 'revive' ? 'resetAt' : 'returnAt']: fresh.version } : {}),
    ...(isMoved ? { movedFrom: tombstone.connection } : {}),
  };
  const identity: Identity = {
    ...fresh,
    ...{ travelId, applied, creating, origin },
    progress: {
      ...(announced ? { announced } : {}),
      ...(reservation ? { reservation } : {}),
      ...(late ? { late } : {}),
    },
    observed: isUnderWay ? undefined : tombstone.observed,
    nextAttemptAt: isUnderWay ? leasedUntil : undefined,
  };
  const left = isMoved ? { ...tombstone.origin, movedTo: connection.id } : tombstone.origin;
  const release: IdentityChange = {
    ...{ kind: 'giveUpTraveler', connection: tombstone.connection, id: tombstone.id },
    ...{ leasedUntil, applied, origin: left },
  };
  return { identity, changes: [release, { kind: 'insert', identity }] };
}

/** An archive that is under way may be carried out after the bridge gave up waiting for it. */
function withLateArchive(before: LateCalls | undefined, checkAt: number): LateCalls {
  const { sent = {}, creates = [] } = before ?? {};
  return { checkAt, sent: { ...sent, archived: [...(sent.archived ?? []), true] }, creates };
}

/** Somebody else gets a traveler of their own, once the leaver's has given its address up. */
function createBesideLeaver({ connection, id, observed }: Identity, fresh: Identity): CreatedUser {
  const identity = { ...fresh, waitingFor: observed && addressKey(observed.email) };
  return {
    identity,
    changes: [
      { kind: 'giveEmailUp', connection, id },
      { kind: 'insert', identity },
    ],
  };
}

/** Without a name: the one who has it may belong to another connection. */
function conflict(): ProvisioningError {
  return new ProvisioningError('conflict', 'Another user has this userName or email address.');
}

/** An identity of which nothing but its desired state is known: claimed, dirty, without a traveler. */
export function newIdentity(
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId'>,
  connection: Pick<Connection, 'id'>,
  desired: ScimResource,
): Identity {
  const time = runtime.wallClock();
  return {
    connection: connection.id,
    id: runtime.newId(),
    desired,
    claimed: true,
    state: 'dirty',
    version: 1,
    revision: 1,
    rulesVersion: undefined,
    travelId: undefined,
    applied: {},
    refused: {},
    observed: undefined,
    creating: undefined,
    waitingFor: undefined,
    progress: {},
    origin: {},
    hold: undefined,
    decision: undefined,
    findings: [],
    trace: [],
    leasedUntil: undefined,
    attempts: 0,
    nextAttemptAt: undefined,
    createdAt: time,
    lastModified: time,
    deletedAt: undefined,
    writtenAt: runtime.now(),
  };
}

/** The identity with what every write of an IdP sets besides the desired state: it is claimed, dirty, and due at once. */
export function withNextVersion(
  before: Identity,
  { now, wallClock }: Pick<Runtime, 'now' | 'wallClock'>,
): Identity {
  return {
    ...before,
    claimed: true,
    version: before.version + 1,
    lastModified: wallClock(),
    writtenAt: now(),
    state: 'dirty',
    attempts: 0,
    nextAttemptAt: undefined,
  };
}
