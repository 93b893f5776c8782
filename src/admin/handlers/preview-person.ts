import type { Connection } from '../../provisioning/connection.ts';
import { usedNames } from '../../provisioning/explain-fields.ts';
import type { Identity } from '../../provisioning/identity.ts';
import { fieldNames } from '../../provisioning/preview-mapping.ts';
import {
  identityForPreview,
  previewIdentity,
  type UserPreviewDeps,
} from '../../provisioning/preview-user.ts';
import { type RulesSnapshot, toRulesSnapshot } from '../../provisioning/rules-snapshot.ts';
import type { Runtime } from '../../provisioning/runtime-ports.ts';
import { normalize } from '../../schema/normalize.ts';
import { type JsonObject, SchemaFault } from '../../schema/resource.ts';
import { userType } from '../../schema/resource-types.ts';
import type { Mapping } from '../../translator/mapping-file.ts';
import { expandTrace } from '../../translator/trace.ts';
import type { Translation, WantedField } from '../../translator/translation.ts';
import { isEqualJson } from '../../translator/values.ts';
import { AdminError } from '../errors.ts';

/** Dependencies of the preview of one person. */
export interface PersonPreviewDeps extends UserPreviewDeps {
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId'>;
}

interface PersonPreviewRequest {
  connection: Connection;
  mapping: Mapping;
  inForce: RulesSnapshot;
  /** The id of a stored person. */
  person?: string | undefined;
  /** A SCIM user as an IdP sends it. */
  user?: JsonObject | undefined;
}

/** Translates one person with a mapping and with the one in force, and compares the two. */
export async function previewPerson(request: PersonPreviewRequest, deps: PersonPreviewDeps) {
  const { mapping, inForce } = request;
  const identity = await findSubject(request, deps);
  const { policies } = request.connection;
  const previewed = toRulesSnapshot({ mapping }, inForce.lookups);
  const present = await previewIdentity(deps, identity, { ...inForce, policies });
  const next = await previewIdentity(deps, identity, { ...previewed, policies });
  const fields = compareFields(present, next);
  const trace = expandTrace(next.trace);
  const { findings, fallbackEmail } = next;
  return {
    userName: String(identity.desired.userName),
    ...{ fields, trace, findings, fallbackEmail },
    names: { ...fieldNames(inForce.lookups), ...usedNames({ fields, trace, findings }, inForce.lookups) },
  };
}

async function findSubject(
  { connection, person, user }: PersonPreviewRequest,
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

function compareFields(present: Translation, next: Translation) {
  const keys = [...new Set([...Object.keys(next.fields), ...Object.keys(present.fields)])];
  return keys.map((field) => {
    const [before, after] = [present.fields[field], next.fields[field]];
    const [inForce, value] = [resultOf(before), resultOf(after)];
    const isChanged = kindOf(before) !== kindOf(after) || !isEqualJson(inForce ?? null, value ?? null);
    return { field, outcome: kindOf(after), value, isChanged, inForce };
  });
}

function kindOf(wanted: WantedField | undefined): WantedField['kind'] {
  return wanted?.kind ?? 'absent';
}

function resultOf(wanted: WantedField | undefined) {
  return wanted?.kind === 'value' ? wanted.value : undefined;
}
