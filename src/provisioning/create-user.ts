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

export interface CreateUserDeps {
  identities: Pick<Identities, 'find' | 'findHolder' | 'findWaiters'>;
  rulesSnapshots: Pick<RulesSnapshots, 'lastKnown'>;
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId'>;
}

/** A new identity, and the changes whose commit creates it. */
export interface CreatedUser {
  identity: Identity;
  changes: IdentityChange[];
}

/**
 * Computes the identity for a POST. This is a new user, an imported person whose unclaimed identity becomes claimed, or
 * a returning user who gets the traveler of the tombstone. Throws `conflict` if the userName is taken or the email
 * address belongs to a person of another connection.
 */
export async function createUser(
  deps: CreateUserDeps,
  connection: Connection,
  desired: ScimResource,
): Promise<CreatedUser> {
  const userName = String(desired.userName);
  const email = computeEmail(deps, connection, desired);
  const sameUserName = await findLiveMatches(deps, connection, { by: 'userName', value: userName });
  if (sameUserName.some(({ claimed }) => claimed)) throw conflictError();
  const unclaimed = (await findUnclaimedByEmail(deps, connection, email)) ?? sameUserName[0];
  if (unclaimed) return claimImportedUser(deps, connection, { unclaimed, sameUserName, desired });
  const tombstone = await findTombstone(deps, connection, { desired, userName, email });
  if (tombstone) return restoreUser(deps, connection, { tombstone, desired });
  const identity = newIdentity(deps.runtime, connection, desired);
  if (email === undefined) return { identity, changes: [{ kind: 'insert', identity }] };
  const { account } = connection;
  const holder = await deps.identities.findHolder(account, { travelEmail: email });
  const creator = await deps.identities.findHolder(account, { creating: email });
  const claimant = await findClaimant(deps, connection, { email });
  for (const other of [holder, creator, claimant])
    if (other && other.connection !== connection.id && other.deletedAt === undefined) throw conflictError();
  // Reserve the address in the same commit, so that two connections cannot both create a traveler for one person.
  const reserved = holder || creator || claimant ? identity : { ...identity, creating: email };
  return { identity: reserved, changes: [{ kind: 'insert', identity: reserved }] };
}

function computeEmail(
  deps: CreateUserDeps,
  connection: Connection,
  desired: ScimResource,
): string | undefined {
  const { rules, lookups } = deps.rulesSnapshots.lastKnown(connection);
  const { fields, fallbackEmail } = toTravel(rules, desired, { lookups, references: new Map() });
  const email = fields.email;
  const wanted = email?.kind === 'value' && typeof email.value === 'string' ? email.value : fallbackEmail;
  return wanted !== undefined && isParkingAddress(connection, wanted) ? undefined : wanted;
}

async function findUnclaimedByEmail(
  deps: CreateUserDeps,
  connection: Connection,
  email: string | undefined,
): Promise<Identity | undefined> {
  if (email === undefined) return undefined;
  const found = await findLiveMatches(deps, connection, { by: 'travelEmail', value: email });
  return found.find(({ claimed }) => !claimed);
}

async function findLiveMatches(
  deps: CreateUserDeps,
  connection: Connection,
  match: IdentityMatch,
): Promise<Identity[]> {
  return (await deps.identities.find(connection.id, match)).filter(
    ({ deletedAt }) => deletedAt === undefined,
  );
}

/**
 * Turns an imported person into a user of the IdP. If the traveler is active, the SCIM id stays, because an IdP may
 * have read it. If the traveler is archived, the user gets a new id.
 */
function claimImportedUser(
  deps: CreateUserDeps,
  connection: Connection,
  {
    unclaimed,
    sameUserName,
    desired,
  }: { unclaimed: Identity; sameUserName: Identity[]; desired: ScimResource },
): CreatedUser {
  if (connection.policies.onExistingUser === 'refuse') throw conflictError();
  const replaced = sameUserName.filter(({ id }) => id !== unclaimed.id);
  const changes: IdentityChange[] = replaced.map(({ id }) => ({ kind: 'deleteUnclaimed', id }));
  if (unclaimed.observed?.archived) {
    const { travelId, observed } = unclaimed;
    const identity: Identity = {
      ...newIdentity(deps.runtime, connection, desired),
      travelId,
      observed,
    };
    return {
      identity,
      changes: [...changes, { kind: 'deleteUnclaimed', id: unclaimed.id }, { kind: 'insert', identity }],
    };
  }
  const identity: Identity = {
    ...withNextVersion(unclaimed, deps.runtime),
    desired,
  };
  return { identity, changes: [...changes, { kind: 'update', identity, expected: unclaimed.version }] };
}

/**
 * Searches by externalId, then by userName, then by the email address of the traveler. In other connections of the account
 * it searches by email address only, since externalId and userName belong to one IdP.
 */
async function findTombstone(
  deps: CreateUserDeps,
  connection: Connection,
  { desired, userName, email }: { desired: ScimResource; userName: string; email: string | undefined },
): Promise<Identity | undefined> {
  const matches: IdentityMatch[] = [];
  if (typeof desired.externalId === 'string') matches.push({ by: 'externalId', value: desired.externalId });
  matches.push({ by: 'userName', value: userName });
  if (email !== undefined) matches.push({ by: 'travelEmail', value: email });
  for (const match of matches) {
    const found = await deps.identities.find(connection.id, match);
    const tombstone = found.find(
      (one) => canBeTakenOver(one) && (one.travelId !== undefined || one.creating !== undefined),
    );
    if (tombstone) return tombstone;
  }
  if (email === undefined) return undefined;
  const { account } = connection;
  const holder = await deps.identities.findHolder(account, { travelEmail: email });
  const creator = await deps.identities.findHolder(account, { creating: email });
  return [holder, creator].find((one) => one && canBeTakenOver(one));
}

interface ReturningUser {
  tombstone: Identity;
  desired: ScimResource;
}

/**
 * Creates the identity of a returning user. It inherits the applied values of the tombstone, so that roles and fields
 * that are no longer wanted are removed.
 */
function restoreUser(
  deps: CreateUserDeps,
  connection: Connection,
  { tombstone, desired }: ReturningUser,
): CreatedUser {
  const { travelId, applied, creating, leasedUntil, progress } = tombstone;
  const { onReturn } = connection.policies;
  const fresh = newIdentity(deps.runtime, connection, desired);
  const isDifferent = isDifferentPerson(tombstone, fresh, { isNew: true });
  // A reset that was pending when the user left is still to be done.
  const needsReset = isDifferent || isResetPending(tombstone, tombstone);
  const isAdmin = tombstone.observed !== undefined && isAdministrator(tombstone.observed);
  if (isDifferent && onReturn === 'separate' && connection.parkingDomain !== undefined && !isAdmin)
    return createSeparateUser(tombstone, fresh);
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
  return { identity, changes: [release, { kind: 'insert', identity }] };
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
function createSeparateUser({ connection, id, observed }: Identity, fresh: Identity): CreatedUser {
  const identity = { ...fresh, waitingFor: observed && addressKey(observed.email) };
  return {
    identity,
    changes: [
      { kind: 'giveEmailUp', connection, id },
      { kind: 'insert', identity },
    ],
  };
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
