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

/** Sends the person, unless that was done before, and then the end. Throws unless the end is refused once the person is linked. */
export async function endOwnUser(call: Call, { connection, end }: OwnUserAct): Promise<void> {
  const user = { schemas: SCHEMAS, userName: EMAIL, externalId: 'own', emails: [{ value: EMAIL }] };
  const created = await call(connection, 'POST', '/Users', user);
  const shown = created && (await find(call, connection));
  if (!shown || travelIdOf(shown) === undefined) return;
  const path = `/Users/${shown.id}`;
  const inactive = { Operations: [{ op: 'replace', path: 'active', value: false }] };
  const answer = await call(connection, end, path, end === 'PATCH' ? inactive : undefined);
  const after = await call(connection, 'GET', path);
  const isKept = !answer || (answer.status === 403 && (!after || after.body.active === true));
  if (!isKept) throw new Error(`${end} of the own user was answered ${answer.status}`);
  const isSame = !answer || !after || after.body.meta.version === shown.meta.version;
  if (!isSame) throw new Error(`${end} of the own user was refused, and has changed the user`);
}

/** Finds the person as the IdP has sent it. The traveler may have been imported, too. */
async function find(call: Call, connection: ConnectionName) {
  const filter = encodeURIComponent(`userName eq "${EMAIL}"`);
  const answer = await call(connection, 'GET', `/Users?filter=${filter}`);
  return answer?.body.Resources.find(({ externalId }: { externalId?: string }) => externalId === 'own');
}

/** Describes a change of the traveler whose credential the bridge uses. */
export function ownUserViolations({ travel }: Pick<World, 'travel'>): string[] {
  const own = [...travel.fake.travelers.values()].find(({ email }) => email === EMAIL);
  const isKept = own?.archived === false && own.roles?.join() === 'admin' && own.lastName === 'Credential';
  return isKept ? [] : [`the own traveler was changed: ${JSON.stringify(own)} [${promises.ownUserStays}]`];
}
