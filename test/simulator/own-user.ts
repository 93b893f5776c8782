import type { Call, ConnectionName } from '../histories/identity-providers.ts';
import { promises } from '../histories/invariants.ts';
import { travelIdOf } from '../histories/wanted-user.ts';
import type { World } from './world.ts';

/** An IdP sends the person whose credential the bridge uses, and wants to end the person. */
export interface OwnUserAct {
  kind: 'ownUser';
  connection: ConnectionName;
  end: 'PATCH' | 'DELETE';
}

const EMAIL = 'bridge@travel.example';
const SCHEMAS = ['urn:ietf:params:scim:schemas:core:2.0:User'];

/** Sends the person, and then the end. Throws unless the end is refused once the person is linked. */
export async function endOwnUser(call: Call, { connection, end }: OwnUserAct): Promise<void> {
  const user = { schemas: SCHEMAS, userName: EMAIL, externalId: 'own', emails: [{ value: EMAIL }] };
  const created = await call(connection, 'POST', '/Users', user);
  const path = `/Users/${created?.body.id ?? ''}`;
  const shown = created?.status === 201 ? await call(connection, 'GET', path) : undefined;
  if (shown?.status !== 200 || travelIdOf(shown.body) === undefined) return;
  const inactive = { Operations: [{ op: 'replace', path: 'active', value: false }] };
  const answer = await call(connection, end, path, end === 'PATCH' ? inactive : undefined);
  const after = await call(connection, 'GET', path);
  const isKept = !answer || (answer.status === 403 && (!after || after.body.active === true));
  if (!isKept) throw new Error(`${end} of the own user was answered ${answer.status}`);
}

/** Describes a change of the traveler whose credential the bridge uses. */
export function ownUserViolations({ travel }: Pick<World, 'travel'>): string[] {
  const own = [...travel.fake.travelers.values()].find(({ email }) => email === EMAIL);
  const isKept = own?.archived === false && own.roles?.join() === 'admin' && own.lastName === 'Credential';
  return isKept ? [] : [`the own traveler was changed: ${JSON.stringify(own)} [${promises.ownUserStays}]`];
}
