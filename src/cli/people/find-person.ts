import { type Identity, isLive } from '../../model/identity.ts';
import type { OperationDeps } from '../../operations/deps.ts';
import { findPeople } from '../../provisioning/people/explain-person.ts';
import { findSimilarUserNames } from '../../provisioning/people/people.ts';
import { findConnections } from '../database.ts';
import { Refused } from '../exit-code.ts';
import { escapeLine, formatMinute } from '../terminal/output.ts';

/** A person whom a command names, as operations name one. */
interface FoundPerson {
  connection: string;
  id: string;
  identity: Identity;
  /** The people of that name who were deleted before. */
  others: string[];
}

/**
 * Finds the person with a userName, email address, SCIM id or travel user id: the only one, or the only one who is not deleted. `isMeant`
 * decides between several before that. Throws Refused if there is none, or several.
 */
export async function findPerson(
  deps: OperationDeps,
  name: string,
  connection?: string,
  isMeant: (identity: Identity) => boolean = isLive,
): Promise<FoundPerson> {
  const connections = findConnections(deps.database, connection);
  const found = await findPeople(deps.store, connections, name);
  if (found.length === 0) {
    const similar = await findSimilarUserNames(deps.store.people, connections, name);
    throw new Refused(unknownText(name, connections, similar));
  }
  const preferred = found.filter(isMeant);
  const live = preferred.length > 0 ? preferred : found.filter(isLive);
  const meant = found.length === 1 ? found : live;
  const [identity] = meant;
  if (!identity || meant.length > 1) throw new Refused(ambiguousText(name, found));
  const others = found.filter((one) => one !== identity).map(placeText);
  return { connection: identity.connection, id: identity.id, identity, others };
}

function unknownText(person: string, connections: string[], names: string[]): string {
  const places = connections.length === 0 ? 'there is no connection yet' : connections.join(', ');
  const meant = names.length === 0 ? '' : ` Did you mean ${names.map(escapeLine).join(' or ')}?`;
  return `Nobody has the userName, email address, SCIM id or travel user id ${escapeLine(person)}. Searched, deleted people included: ${places}. "npx jetbridge people" lists everybody.${meant}`;
}

function ambiguousText(person: string, found: Identity[]): string {
  const lines = found.map((identity) => `  ${placeText(identity)}`);
  return [
    `${escapeLine(person)} names several people. Give the SCIM id of one, or add --connection:`,
    ...lines,
  ].join('\n');
}

function placeText({ id, connection, desired, deletedAt, state }: Identity): string {
  const deleted = deletedAt === undefined ? '' : `, deleted ${formatMinute(deletedAt)} (UTC)`;
  return `${id} (${escapeLine(String(desired.userName))}, connection ${connection}, ${state}${deleted})`;
}
