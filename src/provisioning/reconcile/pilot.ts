import { addressKey } from '../../model/addresses.ts';
import { type Identity, wasInPilot } from '../../model/identity.ts';
import type { ReconcileContext } from './context.ts';
import { type Program, perform } from './effects.ts';

/**
 * True if the pilot of the connection has this person provisioned while others are planned. A deleted user, who is in no group any more, stays
 * what the user was.
 */
export function isInPilot({ identity, translation, rulesSnapshot: { rules } }: ReconcileContext): boolean {
  if (!rules.pilot) return false;
  return identity.deletedAt === undefined ? translation.isInPilot : wasInPilot(identity);
}

/** Finds an earlier user of the connection who gets a traveler with the address, as the report of shadow mode says. */
export function* findPlannedHolder(
  { connection, identity }: ReconcileContext,
  email: string,
): Program<Identity | undefined> {
  const others = yield* perform('findIdentities', connection.id, { by: 'email', value: email });
  return others.find(
    ({ id, createdAt, progress: { shadow } }) =>
      id !== identity.id &&
      shadow?.email !== undefined &&
      addressKey(shadow.email) === addressKey(email) &&
      (createdAt < identity.createdAt || (createdAt === identity.createdAt && id < identity.id)),
  );
}
