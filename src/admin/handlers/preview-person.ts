import type { Connection } from '../../provisioning/connection.ts';
import type { Identity } from '../../provisioning/identity.ts';
import type { UserPreviewDeps } from '../../provisioning/mapping-effect.ts';
import { identityForPreview } from '../../provisioning/preview-person.ts';
import type { Runtime } from '../../provisioning/runtime-ports.ts';
import { normalize } from '../../schema/normalize.ts';
import { type JsonObject, SchemaFault } from '../../schema/resource.ts';
import { userType } from '../../schema/resource-types.ts';
import { AdminError } from '../errors.ts';

/** Dependencies of finding the person of a preview. */
export interface PersonPreviewDeps {
  identities: UserPreviewDeps['identities'];
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId'>;
}

/** The person of a preview: a stored one by id, or a SCIM user as an IdP sends it. */
export interface PersonPreviewSubject {
  person?: string | undefined;
  user?: JsonObject | undefined;
}

/** Finds the person of a preview. Throws 404 or 422. */
export async function findPreviewedPerson(
  connection: Connection,
  { person, user }: PersonPreviewSubject,
  deps: PersonPreviewDeps,
): Promise<Identity> {
  if (user !== undefined && person === undefined)
    return identityForPreview(deps, { connection, user: readUser(user) }, deps.runtime);
  if (person === undefined || user !== undefined)
    throw new AdminError('invalid', 'Give either the id of a person or a SCIM user.', {
      faults: [{ field: 'person', message: 'is needed, unless a user is given' }],
    });
  const found = await deps.identities.findById(connection.id, person);
  if (!found)
    throw new AdminError('notFound', `There is no person ${person} in the connection ${connection.id}.`);
  return found;
}

function readUser(body: JsonObject): JsonObject {
  try {
    return normalize(userType, body).resource;
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    throw new AdminError('invalid', error.message, { faults: [{ field: 'user', message: error.message }] });
  }
}
