import { isParkingAddress } from '../../model/addresses.ts';
import type { Connection } from '../../model/connection.ts';
import type { Memberships } from '../../model/group-ports.ts';
import { type Creating, type Identity, isInactive, isLive, newIdentity } from '../../model/identity.ts';
import { ProvisioningError } from '../../model/provisioning-error.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type {
  Identities,
  IdentityChange,
  NewUser,
  NewUserCondition,
  NewUserMatches,
} from '../../model/store-ports.ts';
import type { ScimResource } from '../../schema/resource.ts';
import { dayOf } from '../../translator/values/dates.ts';
import { carriedOutBy, run } from '../reconcile/effects.ts';
import type { PendingWrite } from '../reconcile/run/commit.ts';
import { findUnknownGroups } from '../reconcile/wanted/memberships.ts';
import { type NewUserTranslation, translateNewUser } from '../reconcile/wanted/translate-identity.ts';
import type { RulesSnapshots } from '../rules/rules-snapshots.ts';
import { awaitTravelerOfLeaver, type PostedUser, takeLeaversPlace } from './return-user.ts';

export interface CreateUserDeps {
  identities: Pick<Identities, 'findForNewUser'>;
  memberships: Pick<Memberships, 'findUnknownNames'>;
  rulesSnapshots: Pick<RulesSnapshots, 'loaded'>;
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId'>;
}

/**
 * Computes the write for a POST. This is a new user, an imported person whose unclaimed identity becomes claimed, or a
 * returning user who gets the traveler of the leaver. Throws `conflict` if the userName is taken or the email
 * address belongs to a person of another connection. With `expectsNoMatch` no identity is read: the write is that of a new
 * user, and its commit is stale if any identity matches the user. Without `mayReserve` no address is reserved.
 */
export async function createUser(
  deps: CreateUserDeps,
  connection: Connection,
  {
    desired,
    expectsNoMatch,
    mayReserve,
  }: { desired: ScimResource; expectsNoMatch: boolean; mayReserve: boolean },
): Promise<PendingWrite> {
  const fresh = newIdentity(deps.runtime, connection, desired);
  if (expectsNoMatch) {
    const newUser = await translate(deps, connection, { desired });
    const user = searchedValues(desired, wantedEmail(connection, newUser));
    if (newUser.rulesSnapshot.generation > 0) return insertionIfNew(fresh, { user, newUser, mayReserve });
  }
  const { newUser, email, matches } = await translateAndMatch(deps, connection, desired);
  const posted: PostedUser = { connection, fresh, email, matches, runtime: deps.runtime };
  if (newUser.translation.scope !== 'in') return insertionWithoutTraveler(posted, newUser);
  const claimed = claimImportedUser(posted);
  if (claimed) return claimed;
  const { generation } = matches;
  const { identity, others } = takeLeaversPlace(posted);
  const changes = [...unclaimedOfSameUserName(matches).map((one) => deletionOf(one)), ...others];
  if (identity.travelId !== undefined || identity.creating !== undefined)
    return insertion(identity, { generation, others: changes });
  const isFree = email !== undefined && isAddressFree(connection, matches);
  if (!isFree || !mayReserve) return insertion(identity, { generation, others: changes, newUser });
  // Reserve the address in the same commit, so that two connections cannot both create a traveler for one person.
  const reserved = { ...identity, creating: reservationOf(identity, email) };
  return insertion(reserved, { generation, others: changes, newUser, freeEmail: email });
}

/**
 * Translates the user, and finds the identities that match it. Rules that another process has put in force are read first: they may leave
 * the user out, or give another address.
 */
async function translateAndMatch(deps: CreateUserDeps, connection: Connection, desired: ScimResource) {
  for (let generation = 0; ; ) {
    const newUser = await translate(deps, connection, { desired, generation });
    const email = wantedEmail(connection, newUser);
    const matches = await deps.identities.findForNewUser(connection.id, searchedValues(desired, email));
    const isInForce = newUser.rulesSnapshot.generation >= matches.generation;
    // Before the lookups were read, the snapshot of the mapping in force has no generation.
    if (isInForce || generation >= matches.generation) return { newUser, email, matches };
    generation = matches.generation;
  }
}

/** The scope is unresolved while it names a group that has not been received. */
async function translate(
  {
    memberships,
    rulesSnapshots,
    runtime,
  }: Pick<CreateUserDeps, 'memberships' | 'rulesSnapshots' | 'runtime'>,
  connection: Connection,
  { desired, generation }: { desired: ScimResource; generation?: number },
): Promise<NewUserTranslation> {
  const rulesSnapshot = await rulesSnapshots.loaded(connection, generation);
  const namesUnknownGroup = await run(
    findUnknownGroups(rulesSnapshot.rules),
    carriedOutBy({ findUnknownGroups: (names) => memberships.findUnknownNames(connection.id, names) }),
  );
  return translateNewUser(rulesSnapshot, desired, {
    namesUnknownGroup,
    statedOn: dayOf(runtime.wallClock()),
  });
}

function searchedValues(desired: ScimResource, email: string | undefined): NewUser {
  return {
    userName: String(desired.userName),
    externalId: typeof desired.externalId === 'string' ? desired.externalId : undefined,
    email,
  };
}

/** True if no identity has the wanted address. Throws `conflict` if an active person of another connection has it. */
function isAddressFree(connection: Connection, matches: NewUserMatches): boolean {
  const others = [matches.holder, matches.creator].filter((other) => other !== undefined);
  if (others.some((other) => other.connection !== connection.id && !isInactive(other))) throw conflictError();
  return others.length === 0;
}

/** Returns the write that inserts an identity if nothing matches the user. */
function insertionIfNew(
  identity: Identity,
  { user, newUser, mayReserve }: { user: NewUser; newUser: NewUserTranslation; mayReserve: boolean },
): PendingWrite {
  const { generation } = newUser.rulesSnapshot;
  const email = mayReserve && newUser.translation.scope === 'in' ? user.email : undefined;
  const creating = email === undefined ? undefined : reservationOf(identity, email);
  const condition = { ...user, generation };
  return insertion({ ...identity, creating }, { generation, newUser, freeEmail: email, condition });
}

/** Returns the reservation of an address for a create, which gets a key of its own when it is sent. */
function reservationOf({ id: key }: Identity, email: string): Creating {
  return { email, key };
}

/** Returns the write of a user who is not in the scope of the mapping: it reserves no address and takes nobody's traveler. */
function insertionWithoutTraveler(posted: PostedUser, newUser: NewUserTranslation): PendingWrite {
  const { matches, fresh } = posted;
  const { generation } = matches;
  const others = unclaimedOfSameUserName(matches).map((one) =>
    // An archived traveler may be that of another person.
    deletionOf(one, one.observed?.archived ? undefined : fresh),
  );
  return insertion(awaitTravelerOfLeaver(posted), { generation, others, newUser });
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

/** Returns the imported people with the userName. Throws `conflict` if a user of the IdP has it. */
function unclaimedOfSameUserName({ userName }: NewUserMatches): Identity[] {
  const live = userName.filter(isLive);
  if (live.some(({ claimed }) => claimed)) throw conflictError();
  return live;
}

/** True for an imported person whom the IdP has deleted without ever having sent the person. */
function isDeletedStranger({ claimed, deletedAt, travelId }: Identity): boolean {
  return !claimed && deletedAt !== undefined && travelId !== undefined;
}

function deletionOf({ id }: Identity, heir?: Identity): IdentityChange {
  return { kind: 'deleteUnclaimed', id, heir };
}

/**
 * Turns an imported person into a user of the IdP. The user has a new SCIM id: a client that lists people, creates one of them and then
 * deletes whom it does not know in its list must not delete the new user. An archived traveler is that of another person. Returns undefined
 * if there is no such person.
 */
function claimImportedUser(posted: PostedUser): PendingWrite | undefined {
  const { matches, fresh } = posted;
  const { generation } = matches;
  const sameUserName = unclaimedOfSameUserName(matches);
  const unclaimed =
    matches.travelEmail.find((one) => isLive(one) && !one.claimed) ??
    sameUserName[0] ??
    [...matches.travelEmail, ...matches.userName].find(isDeletedStranger);
  if (!unclaimed) return undefined;
  const { travelId, observed } = unclaimed;
  if (observed?.archived) return undefined;
  const claimed = { ...fresh, travelId, observed };
  // The others, who have the userName only, are other people.
  const namesakes = sameUserName.filter(({ id }) => id !== unclaimed.id).map((one) => deletionOf(one));
  return insertion(claimed, { generation, others: [deletionOf(unclaimed, claimed), ...namesakes] });
}

/** The message does not name the other user, who may belong to another connection. */
function conflictError(): ProvisioningError {
  return new ProvisioningError('conflict', 'Another user has this userName or email address.');
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
