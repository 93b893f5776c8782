import type { Memberships } from '../../../model/group-ports.ts';
import type { Identity } from '../../../model/identity.ts';
import type { Identities, References } from '../../../model/store-ports.ts';
import type { Handlers } from '../effects.ts';

/** The store, as far as `storeReads` needs it. */
export interface StoreReadDeps {
  identities: Pick<Identities, 'findById' | 'find' | 'findHolder' | 'isWaitedFor' | 'isErased'>;
  references: Pick<References, 'findRows'>;
  memberships: Pick<Memberships, 'findOf' | 'findUnknownNames'>;
}

/** The reads of the store that reconciling an identity and its preview share. They need no commit: nobody else sees them. */
export function storeReads(
  { identities, references, memberships }: StoreReadDeps,
  account: string,
  { connection, id }: Pick<Identity, 'connection' | 'id'>,
): Partial<Handlers> {
  return {
    findIdentity: identities.findById,
    findIdentities: identities.find,
    findHolder: (match) => identities.findHolder(account, match),
    isWaitedFor: (email) => identities.isWaitedFor(account, email, id),
    isErased: (travelId) => identities.isErased(account, travelId),
    findReferences: () => references.findRows(connection, id),
    findMemberships: () => memberships.findOf(connection, id),
    findUnknownGroups: (names) => memberships.findUnknownNames(connection, names),
  };
}
