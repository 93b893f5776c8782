import type { ScimResource } from '../schema/resource.ts';
import type { Connection } from './connection.ts';
import { addressKey, findClaimantAmong, isParkingAddress } from './email-conflicts.ts';
import { isAdministrator } from './guard.ts';
import type { Identity, LateCalls, Origin } from './identity.ts';
import { isResetPending } from './ownership.ts';
import { ProvisioningError } from './provisioning-error.ts';
import type { RulesSnapshots } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Identities, IdentityChange, NewUser, NewUserCondition, NewUserMatches } from './store-ports.ts';
import { canBeTakenOver, isDifferentPerson } from './takeover.ts';
import { type NewUserTranslation, translateNewUser } from './translate-identity.ts';
import type { PendingWrite } from './write-attempt.ts';

export interface CreateUserDeps {
  identities: Pick<Identities, 'findForNewUser' | 'findWaiters'>;
  rulesSnapshots: Pick<RulesSnapshots, 'lastKnown'>;
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId'>;
}

/**
 * Computes the write for a POST. This is a new user, an imported person whose unclaimed identity becomes claimed, or a
 * returning user who gets the traveler of the tombstone. Throws `conflict` if the userName is taken or the email
 * address belongs to a person of another connection. With `expectsNoMatch` nothing is read: the write is that of a new
 * user, and its commit is stale if any identity matches the user.
 */
export async function createUser(
  deps: CreateUserDeps,
  connection: Connection,
  { desired, expectsNoMatch }: { desired: ScimResource; expectsNoMatch: boolean },
): Promise<PendingWrite> {
  const userName = String(desired.userName);
  const externalId = typeof desired.externalId === 'string' ? desired.externalId : undefined;
  const newUser = translateNewUser(deps.rulesSnapshots.lastKnown(connection), desired);
  const email = wantedEmail(connection, newUser);
  const user = { userName, externalId, email };
  if (expectsNoMatch && newUser.rulesSnapshot.generation > 0)
    return insertionIfNew(newIdentity(deps.runtime, connection, desired), { user, newUser });
  const matches = await deps.identities.findForNewUser(connection.id, user);
  const { generation } = matches;
  const sameUserName = matches.userName.filter(isLive);
  if (sameUserName.some(({ claimed }) => claimed)) throw conflictError();
  const unclaimed =
    matches.travelEmail.find((one) => isLive(one) && !one.claimed) ??
    sameUserName[0] ??
    [...matches.travelEmail, ...matches.userName].find(isDeletedStranger);
  if (unclaimed) return claimImportedUser(deps, connection, { unclaimed, sameUserName, desired, generation });
  const tombstone = findTombstone(matches);
  if (tombstone) return restoreUser(deps, connection, { tombstone, desired, generation });
  const identity = newIdentity(deps.runtime, connection, desired);
  if (email === undefined) return insertion(identity, { generation, newUser });
  const claimant = await findClaimantAmong(deps, connection, matches);
  const others = [matches.holder, matches.creator, claimant].filter((other) => other !== undefined);
  if (others.some((other) => other.connection !== connection.id && isLive(other))) throw conflictError();
  if (others.length > 0) return insertion(identity, { generation, newUser });
  // Reserve the address in the same commit, so that two connections cannot both create a traveler for one person.
  return insertion({ ...identity, creating: email }, { generation, newUser, freeEmail: email });
}

/** Returns the write that inserts an identity if nothing matches the user. */
function insertionIfNew(
  identity: Identity,
  { user, newUser }: { user: NewUser; newUser: NewUserTranslation },
): PendingWrite {
  const { generation } = newUser.rulesSnapshot;
  const { email } = user;
  const condition = { ...user, generation };
  return insertion({ ...identity, creating: email }, { generation, newUser, freeEmail: email, condition });
}

/** Returns the write that inserts an identity. A new identity has no references. */
function insertion(
  identity: Identity,
  {
    generation,
    others = [],
    newUser,
    freeEmail,
    condition,
  }: Pick<PendingWrite, 'generation' | 'newUser' | 'freeEmail'> & {
    others?: IdentityChange[];
    condition?: NewUserCondition;
  },
): PendingWrite {
  const changes: IdentityChange[] = [...others, { kind: 'insert', identity, condition }];
  return { identity, before: undefined, changes, references: [], generation, newUser, freeEmail };
}

function wantedEmail(connection: Connection, { translation }: NewUserTranslation): string | undefined {
  const { fields, fallbackEmail } = translation;
  const email = fields.email;
  const wanted = email?.kind === 'value' && typeof email.value === 'string' ? email.value : fallbackEmail;
  return wanted !== undefined && isParkingAddress(connection, wanted) ? undefined : wanted;
}

function isLive({ deletedAt }: Identity): boolean {
  return deletedAt === undefined;
}

/** True for an imported person whom the IdP has deleted without ever having sent the person. */
function isDeletedStranger({ claimed, deletedAt, travelId }: Identity): boolean {
  return !claimed && deletedAt !== undefined && travelId !== undefined;
}

/**
 * Turns an imported person into a user of the IdP. If the traveler is active, the SCIM id stays, because an IdP may
 * have read it. If the traveler is archived, or the IdP has deleted the person, the user gets a new id.
 */
function claimImportedUser(
  deps: CreateUserDeps,
  connection: Connection,
  {
    unclaimed,
    sameUserName,
    desired,
    generation,
  }: { unclaimed: Identity; sameUserName: Identity[]; desired: ScimResource; generation: number },
): PendingWrite {
  if (connection.policies.onExistingUser === 'refuse') throw conflictError();
  const replaced = sameUserName.filter(({ id }) => id !== unclaimed.id);
  const deletions: IdentityChange[] = replaced.map(({ id }) => ({ kind: 'deleteUnclaimed', id }));
  if (unclaimed.observed?.archived || !isLive(unclaimed)) {
    const { travelId, observed } = unclaimed;
    const identity = { ...newIdentity(deps.runtime, connection, desired), travelId, observed };
    const others: IdentityChange[] = [...deletions, { kind: 'deleteUnclaimed', id: unclaimed.id }];
    return insertion(identity, { generation, others });
  }
  const identity: Identity = { ...withNextVersion(unclaimed, deps.runtime), desired };
  const update: IdentityChange = { kind: 'update', identity, expected: unclaimed.version };
  return { identity, before: unclaimed, changes: [...deletions, update], references: undefined, generation };
}

/**
 * Searches by externalId, then by userName, then by the email address of the traveler. In other connections of the account
 * it searches by email address only, since externalId and userName belong to one IdP.
 */
function findTombstone({
  externalId,
  userName,
  travelEmail,
  holder,
  creator,
}: NewUserMatches): Identity | undefined {
  const hasTraveler = ({ travelId, creating }: Identity) => travelId !== undefined || creating !== undefined;
  const own = [...externalId, ...userName, ...travelEmail].find(
    (one) => one.claimed && canBeTakenOver(one) && hasTraveler(one),
  );
  return own ?? [holder, creator].find((one) => one && canBeTakenOver(one));
}

interface ReturningUser {
  tombstone: Identity;
  desired: ScimResource;
  generation: number;
}

/**
 * Creates the identity of a returning user. It inherits the applied values of the tombstone, so that roles and fields
 * that are no longer wanted are removed.
 */
function restoreUser(
  deps: CreateUserDeps,
  connection: Connection,
  { tombstone, desired, generation }: ReturningUser,
): PendingWrite {
  const { travelId, applied, creating, leasedUntil, progress } = tombstone;
  const { onReturn } = connection.policies;
  const fresh = newIdentity(deps.runtime, connection, desired);
  const isDifferent = isDifferentPerson(tombstone, fresh, { isNew: true });
  // A reset that was pending when the user left is still to be done.
  const needsReset = isDifferent || isResetPending(tombstone, tombstone);
  const isAdmin = tombstone.observed !== undefined && isAdministrator(tombstone.observed);
  if (isDifferent && onReturn === 'separate' && connection.parkingDomain !== undefined && !isAdmin)
    return createSeparateUser(tombstone, fresh, generation);
  // An archive call in flight would undo the return. Wait until the call can no longer arrive, then read the traveler
  // before planning.
  const hasLease = leasedUntil !== undefined && leasedUntil > deps.runtime.now();
  const { announced, reservation } = progress;
  const late = hasLease ? withLateArchive(progress.late, leasedUntil + connection.lateMs) : progress.late;
  const isMoved = tombstone.connection !== connection.id;
  const origin: Origin = {
    ...(needsReset ? { [onReturn === 'revive' ? 'resetAt' : 'returnAt']: fresh.version } : {}),
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
    observed: hasLease ? undefined : tombstone.observed,
    nextAttemptAt: hasLease ? leasedUntil : undefined,
  };
  const left = isMoved ? { ...tombstone.origin, movedTo: connection.id } : tombstone.origin;
  const release: IdentityChange = {
    ...{ kind: 'giveUpTraveler', connection: tombstone.connection, id: tombstone.id },
    ...{ leasedUntil, applied, origin: left },
  };
  return insertion(identity, { generation, others: [release] });
}

/** Adds an archive call in flight to the late calls: the travel API may still carry it out after its time-out. */
function withLateArchive(before: LateCalls | undefined, checkAt: number): LateCalls {
  const { sent = {}, creates = [] } = before ?? {};
  return { checkAt, sent: { ...sent, archived: [...(sent.archived ?? []), true] }, creates };
}

/**
 * Creates the identity of a different person with the same email address. It gets a new traveler once the old traveler
 * has given up the address.
 */
function createSeparateUser(
  { connection, id, observed }: Identity,
  fresh: Identity,
  generation: number,
): PendingWrite {
  const identity = { ...fresh, waitingFor: observed && addressKey(observed.email) };
  return insertion(identity, { generation, others: [{ kind: 'giveEmailUp', connection, id }] });
}

/** The message does not name the other user, who may belong to another connection. */
function conflictError(): ProvisioningError {
  return new ProvisioningError('conflict', 'Another user has this userName or email address.');
}

/** Creates an identity that has only a desired state: claimed, dirty, without a traveler. */
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
    rulesGeneration: 0,
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

/** Prepares an identity for a write of the IdP: it becomes claimed, dirty and due at once. */
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
