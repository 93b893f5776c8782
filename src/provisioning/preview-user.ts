import type { ScimResource } from '../schema/resource.ts';
import type { Rules } from '../translator/rules.ts';
import { toTravel } from '../translator/to-travel.ts';
import type { Reference, Translation } from '../translator/translation.ts';
import type { Connection } from './connection.ts';
import { newIdentity } from './create-user.ts';
import type { Identity } from './identity.ts';
import { readOnlyReferences } from './mapping-effect.ts';
import { resolveReferences } from './references.ts';
import type { RulesSnapshot } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Identities, References } from './store-ports.ts';

/** The part of the store that the preview of one user reads. */
export interface UserPreviewDeps {
  identities: Pick<Identities, 'findById' | 'find'>;
  references: Pick<References, 'findRows'>;
}

/** Translates a stored person with any rules. Nothing is written or sent. */
export async function previewIdentity(
  deps: UserPreviewDeps,
  identity: Identity,
  { rules, lookups, policies }: Pick<RulesSnapshot, 'rules' | 'lookups'> & Pick<Connection, 'policies'>,
): Promise<Translation> {
  const { desired, applied, origin } = identity;
  const references = await readReferences(deps, identity, { rules, policies });
  return toTravel(rules, desired, { lookups, references, applied, countedParts: origin.countedParts });
}

/** Returns the identity that a connection would have for a user that is not stored: managers are found as for a person of that name. */
export async function identityForPreview(
  { identities }: Pick<UserPreviewDeps, 'identities'>,
  { connection, user }: { connection: Pick<Connection, 'id'>; user: ScimResource },
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId'>,
): Promise<Identity> {
  const fresh = newIdentity(runtime, connection, user);
  const found = await identities.find(connection.id, { by: 'userName', value: String(user.userName) });
  const known = found.find(({ deletedAt }) => deletedAt === undefined);
  return { ...fresh, id: known?.id ?? fresh.id };
}

/** Resolves the managers that an identity names, from the stored identities of the connection. */
export async function readReferences(
  { identities, references }: UserPreviewDeps,
  identity: Identity,
  { rules, policies }: { rules: Rules } & Pick<Connection, 'policies'>,
): Promise<ReadonlyMap<string, Reference>> {
  const readOnly = { identities, references: readOnlyReferences(references.findRows) };
  return (await resolveReferences(readOnly, { identity, ...policies }, rules)).references;
}
