import { isDeepStrictEqual } from 'node:util';
import type { ScimResource } from '../schema/resource.ts';
import { newcomer } from './arrival.ts';
import type { Bases } from './basis.ts';
import { claimed } from './claim.ts';
import type { Connection } from './connection.ts';
import type { Discovery } from './discovery.ts';
import { BridgeError } from './errors.ts';
import type { Identity } from './identity.ts';
import type { Listed } from './list-query.ts';
import { changeGroups } from './memberships.ts';
import { valuesOf } from './names.ts';
import type {
  Agenda,
  Groups,
  Identities,
  IdentityChange,
  References,
  ShownIdentity,
  Surroundings,
} from './ports.ts';
import type { Promptly } from './promptly.ts';
import { rewritten } from './rewritten.ts';
import { rouse } from './rouse.ts';
import type { Turns } from './turns.ts';
import { type ListedUser, listUsers, type UserQuery, type UserView, viewsOf } from './user-list.ts';

/** The story of users, told to the front door. Every write is durable before it is answered; none waits for a slow travel API. */
export interface UserStory {
  create(connection: string, desired: ScimResource): Promise<UserView>;
  read(connection: string, id: string): Promise<UserView>;
  list(connection: string, query: UserQuery): Promise<Listed<ListedUser>>;
  /** Applies a pure change to the desired state at a version, which it may refuse by throwing; one that changes nothing leaves version and lastModified alone. */
  change(
    connection: string,
    id: string,
    change: (current: ScimResource, version: number) => ScimResource,
    kind: 'replace' | 'patch',
  ): Promise<UserView>;
  /** `check` may refuse, by throwing, what is at that version. */
  remove(connection: string, id: string, check?: (version: number) => void): Promise<void>;
}

/** What the story of users works with. */
export interface UserWorkshop {
  identities: Identities;
  groups: Pick<Groups, 'byId' | 'change' | 'groupsOf' | 'membershipsOf'>;
  agenda: Pick<Agenda, 'touch'>;
  references: Pick<References, 'referrers'>;
  bases: Bases;
  discovery: Discovery;
  promptly: Promptly;
  turns: Turns;
  connectionOf(id: string): Connection;
  wake(): void;
  surroundings: Surroundings;
}

/** How often a write is tried again when another writer was quicker. */
const TRIES = 20;

/** The users of all connections. */
export function userStory(shop: UserWorkshop): UserStory {
  return {
    create: (connection, desired) => create(shop, shop.connectionOf(connection), desired),
    read: (connection, id) => viewOf(shop, connection, id),
    list: (connection, query) => listUsers(shop, shop.connectionOf(connection), query),
    change: (connection, id, change, kind) =>
      amendDesired(shop, shop.connectionOf(connection), { id, change, kind }),
    remove: (connection, id, check) => remove(shop, shop.connectionOf(connection), { id, check }),
  };
}

async function create(shop: UserWorkshop, connection: Connection, desired: ScimResource): Promise<UserView> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { identity, changes } = await newcomer(shop, connection, {
      ...desired,
      active: desired.active ?? true,
    });
    shop.surroundings.checkpoint('beforeCommit');
    const outcome = await shop.identities.commit(connection.id, changes);
    if (outcome === 'duplicate') throw taken();
    if (outcome === 'stale') continue;
    shop.surroundings.checkpoint('afterCommit');
    if (identity.travelId !== undefined) await touchReferrers(shop, identity, identity);
    // One whose time is set must wait for what is under way; the background loop sees to it.
    if (identity.nextAttemptAt === undefined) await shop.promptly.reconcile(connection, identity.id);
    return viewOf(shop, connection.id, identity.id);
  }
  throw busy();
}

interface Amendment {
  id: string;
  change: (current: ScimResource, version: number) => ScimResource;
  kind: 'replace' | 'patch';
}

async function amendDesired(
  shop: UserWorkshop,
  connection: Connection,
  amendment: Amendment,
): Promise<UserView> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const idle = await viewIfNothing(shop, connection.id, amendment);
    if (idle) return idle;
    const before = await live(shop, connection.id, amendment.id);
    const after = next(before.desired, amendment.change(before.desired, before.version));
    const changesNothing = before.claimed && isDeepStrictEqual(after, before.desired);
    if (changesNothing && before.state !== 'refused' && before.hold?.cause !== 'guarded')
      return viewOf(shop, connection.id, before.id);
    if (!changesNothing) {
      const write = { before, after, kind: amendment.kind };
      const { identity, changes } = claimed(shop.surroundings, connection, write);
      if ((await commitAll(shop, connection, changes)) === 'stale') continue;
      await touchReferrers(shop, before, identity);
    }
    const attempt = await shop.promptly.reconcile(connection, before.id);
    if (attempt === 'refused' && after.active === false) await tellRefusal(shop, connection, before.id);
    return viewOf(shop, connection.id, before.id);
  }
  throw busy();
}

/** IdPs repeat themselves all day: what changes nothing is answered from what is read for an answer anyway. */
async function viewIfNothing(
  shop: UserWorkshop,
  connection: string,
  { id, change }: Amendment,
): Promise<UserView | undefined> {
  const shown = await shop.identities.shown(connection, id);
  if (!shown?.atRest) return undefined;
  const current = JSON.parse(shown.desired) as ScimResource; // The store keeps nothing else.
  const isSame = isDeepStrictEqual(next(current, change(current, shown.version)), current);
  return isSame ? view(shop, connection, shown) : undefined;
}

/**
 * `active` is always stored: a change that leaves it out or clears it keeps it (docs/architecture.md, The rules of the
 * plan).
 */
function next(current: ScimResource, changed: ScimResource): ScimResource {
  return typeof changed.active === 'boolean' ? changed : { ...changed, active: current.active ?? true };
}

async function commitAll(
  shop: UserWorkshop,
  connection: Connection,
  changes: IdentityChange[],
): Promise<'done' | 'stale'> {
  shop.surroundings.checkpoint('beforeCommit');
  const outcome = await shop.identities.commit(connection.id, changes);
  if (outcome === 'duplicate') throw taken();
  shop.surroundings.checkpoint('afterCommit');
  return outcome;
}

async function remove(
  shop: UserWorkshop,
  connection: Connection,
  { id, check }: { id: string; check: ((version: number) => void) | undefined },
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = await liveOrRefused(shop, connection, id);
    check?.(before.version);
    const { surroundings } = shop;
    const memberOf = await shop.groups.membershipsOf(connection.id, id);
    const identity: Identity = {
      ...rewritten(before, surroundings),
      deletedAt: surroundings.wallClock(),
      origin: memberOf.length > 0 ? { ...before.origin, memberOf } : before.origin,
    };
    const change = { kind: 'update', identity, expected: before.version } as const;
    if ((await commitAll(shop, connection, [change])) === 'stale') continue;
    await touchReferrers(shop, before, identity);
    if ((await shop.promptly.reconcile(connection, id)) === 'refused') await takeBack(shop, connection, id);
    return;
  }
  throw busy();
}

/**
 * The live identity. Of one whose DELETE was committed and not answered, as the process ended then, a repeated DELETE must
 * still tell that it is refused.
 */
async function liveOrRefused(shop: UserWorkshop, connection: Connection, id: string): Promise<Identity> {
  const identity = await shop.identities.byId(connection.id, id);
  if (identity?.deletedAt === undefined) return live(shop, connection.id, id);
  const isOpen =
    identity.state === 'dirty' || identity.state === 'refused' || identity.hold?.cause === 'guarded';
  if (isOpen && (await shop.promptly.reconcile(connection, id)) === 'refused')
    await takeBack(shop, connection, id);
  throw notFound();
}

/**
 * A DELETE that the travel API refuses outright is told, and becomes a deactivation that any repeat tries again
 * (docs/architecture.md, Guarded people).
 */
async function takeBack(shop: UserWorkshop, connection: Connection, id: string): Promise<void> {
  const tombstone = await shop.identities.byId(connection.id, id);
  if (tombstone?.deletedAt === undefined) throw notFound();
  const { memberOf: memberships = [], ...origin } = tombstone.origin;
  const identity: Identity = {
    ...rewritten(tombstone, shop.surroundings),
    desired: { ...tombstone.desired, active: false },
    deletedAt: undefined,
    state: tombstone.state,
    origin,
  };
  // Before the commit, so that a process that dies in between finds the groups in the tombstone.
  await changeGroups(shop, connection.id, {
    memberships,
    change: ({ group: _, ...member }) => ({ kind: 'add', members: [{ value: id, ...member }] }),
  });
  const change = { kind: 'update', identity, expected: tombstone.version } as const;
  // Somebody else may have the userName by now: then nobody is there any more.
  if ((await shop.identities.commit(connection.id, [change])) === 'duplicate') {
    await changeGroups(shop, connection.id, {
      memberships,
      change: () => ({ kind: 'remove', values: [id] }),
    });
    throw notFound();
  }
  await touchReferrers(shop, identity, identity);
  throw refused(tombstone);
}

async function tellRefusal(shop: UserWorkshop, connection: Connection, id: string): Promise<void> {
  const identity = await shop.identities.byId(connection.id, id);
  const isArchiveRefused = identity?.findings.some(
    ({ field, code }) => (field === 'archived' && code !== 'drift') || code === 'ownCredential',
  );
  if (identity && isArchiveRefused) throw refused(identity);
}

/** Those who refer to somebody by a value that came or went look again. */
async function touchReferrers(shop: UserWorkshop, before: Identity, after: Identity): Promise<void> {
  const [old, now] = [new Set(valuesOf(before)), new Set(valuesOf(after))];
  const moved = [...old]
    .filter((value) => !now.has(value))
    .concat([...now].filter((value) => !old.has(value)));
  const hasGone = after.deletedAt !== undefined;
  const isNew = before === after;
  if (moved.length === 0 && !hasGone && !isNew) return;
  const values = hasGone || isNew ? [...new Set([...old, ...now])] : moved;
  const referrers = await shop.references.referrers(after.connection, after.id, values);
  await rouse(shop, after.connection, referrers);
}

async function live(shop: UserWorkshop, connection: string, id: string): Promise<Identity> {
  const identity = await shop.identities.byId(connection, id);
  if (!identity || identity.deletedAt !== undefined) throw notFound();
  return identity;
}

async function viewOf(shop: UserWorkshop, connection: string, id: string): Promise<UserView> {
  const shown = await shop.identities.shown(connection, id);
  if (!shown) throw notFound();
  return view(shop, connection, shown);
}

async function view(shop: UserWorkshop, connection: string, shown: ShownIdentity): Promise<UserView> {
  const [only] = await viewsOf(shop, connection, { shown: [shown], withGroups: true });
  if (!only) throw notFound();
  return only;
}

function notFound(): BridgeError {
  return new BridgeError('notFound', 'There is no such user.');
}

function taken(): BridgeError {
  return new BridgeError('conflict', 'Another user has this userName.');
}

function refused({ hold, findings }: Identity): BridgeError {
  if (hold?.cause === 'guarded')
    return new BridgeError(
      'refused',
      'This person administers the travel service and is not deactivated by an identity provider; an administrator of Jetbridge must approve it.',
    );
  if (findings.some(({ code }) => code === 'ownCredential'))
    return new BridgeError(
      'refused',
      'Jetbridge itself uses the travel service as this person, who is never deactivated.',
    );
  return new BridgeError('refused', 'The travel service refuses to take this person out of use.');
}

function busy(): BridgeError {
  return new BridgeError('unavailable', 'Too many writers change this user at once; try again.');
}
