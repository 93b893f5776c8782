import type { Connection } from '../../model/connection.ts';
import type { Identity } from '../../model/identity.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { Identities, IdentityChange } from '../../model/store-ports.ts';
import { isKeptActive, statedDepartureAfter } from '../reconcile/departure/guard.ts';
import { originAfterStatement } from '../reconcile/restored/statements.ts';
import { markReferrersDirty } from '../reconcile/run/notify-dependents.ts';
import { withNextVersion } from './create-user.ts';
import {
  isOwnUser,
  notFoundError,
  type RefusalDeps,
  refuseToEndOwnUser,
  undoDelete,
} from './refused-departures.ts';
import { lastDeparture } from './update-user.ts';
import type { Writer } from './write.ts';

interface DeleteUserDeps extends RefusalDeps {
  identities: Pick<Identities, 'findById' | 'findForWrite' | 'findHolder' | 'commit'>;
  writer: Pick<Writer, 'write' | 'retry'>;
}

interface UserRemoval {
  id: string;
  check: ((version: number) => void) | undefined;
  requestId: string | undefined;
}

/**
 * Deletes a user: a tombstone remains, and the traveler is archived or deleted, as the policy `deprovision` says. Throws `notFound`, and
 * `refused` if the travel API or a guard refuses; the user is only inactive then.
 */
export async function deleteUser(
  deps: DeleteUserDeps,
  connection: Connection,
  { id, check, requestId }: UserRemoval,
): Promise<void> {
  await deps.writer.write(connection, async () => {
    const stored = await deps.identities.findForWrite(connection.id, id);
    if (!stored) throw notFoundError();
    const before = stored.parse();
    if (stored.isDeleted) await throwDeleted(deps, connection, { tombstone: before, requestId });
    const isOwn = await isOwnUser(deps, connection.id, stored.view);
    if (isOwn && !before.claimed) throw notFoundError();
    check?.(before.version);
    if (isOwn) await refuseToEndOwnUser(deps, before);
    // The traveler of a person whom the connection has never written stays until an admin decides, also if a filter has found the person:
    // clients look up whom they have listed, and then delete whom they do not know. Other connections of the account still find the person.
    const isStranger = !before.claimed;
    if (isStranger) await throwIfLinkedElsewhere(deps, connection, before);
    const deleted = toDeleted(before, deps.runtime);
    const identity = isStranger ? { ...deleted, claimed: false } : deleted;
    const changes: IdentityChange[] = [{ kind: 'update', identity, expected: before.version }];
    const references = stored.hasReferences ? undefined : [];
    const write = { identity, before, changes, references, generation: stored.generation, requestId };
    return {
      write,
      afterCommit: () => markReferrersDirty(deps, before, identity),
      answer: async ({ result }) => {
        if (result === 'refused') await undoDelete(deps, connection, id);
      },
    };
  });
}

/** Returns the tombstone of a user. */
function toDeleted(before: Identity, runtime: Runtime): Identity {
  const now = runtime.wallClock();
  const departure = lastDeparture(before, now);
  const statedDeparture = statedDepartureAfter(before, { isStated: true });
  return {
    ...withNextVersion(before, runtime),
    deletedAt: now,
    origin: { ...originAfterStatement(before, [['active']]), departure, statedDeparture },
  };
}

/** Throws 404 for a person whom another connection of the account provisions, and whom an import has listed at the same time. */
async function throwIfLinkedElsewhere(
  { identities }: DeleteUserDeps,
  { id: connection, account }: Connection,
  { id, travelId }: Identity,
): Promise<void> {
  if (travelId === undefined || !(await identities.findHolder(account, { travelId }))) return;
  await identities.commit(connection, [{ kind: 'deleteUnclaimed', id }]);
  throw notFoundError();
}

/**
 * Answers the DELETE of a tombstone. If an earlier DELETE was committed but the process ended before it was answered, the
 * repeated DELETE must still report a refusal.
 */
async function throwDeleted(
  deps: DeleteUserDeps,
  connection: Connection,
  { tombstone, requestId }: { tombstone: Identity; requestId: string | undefined },
): Promise<never> {
  const { id, state, hold, origin } = tombstone;
  if (isKeptActive(tombstone)) {
    // The IdP states again that the person leaves, although an admin has discarded that.
    const statedDeparture = statedDepartureAfter(tombstone, { isStated: true });
    const { lastModified } = tombstone;
    const next = withNextVersion(tombstone, deps.runtime);
    const identity = { ...next, lastModified, origin: { ...origin, statedDeparture } };
    await deps.identities.commit(connection.id, [{ kind: 'update', identity, expected: tombstone.version }]);
    deps.wake();
  }
  const isOpen = state === 'dirty' || state === 'refused' || hold?.cause === 'guarded';
  if (isOpen && (await deps.writer.retry(connection, id, requestId)) === 'refused')
    await undoDelete(deps, connection, id);
  throw notFoundError();
}
