import type { TravelUser } from '../../src/translator/traveler.ts';
import { type Call, type ConnectionName, connections } from '../histories/identity-providers.ts';
import { isAdmin, type ObservedState } from '../histories/record.ts';
import { travelIdOf } from '../histories/wanted-user.ts';

/** So few that a list has several pages. */
const PAGE = 3;
const PARKING = /@jetbridge\.invalid$/;

/** Describes the people of IdPs who are not in the list of their connection once. */
export async function listViolations(call: Call, state: ObservedState): Promise<string[]> {
  const broken: string[] = [];
  for (const connection of connections)
    broken.push(...missingPeople(connection, await listAll(call, connection), state));
  return broken;
}

/**
 * Describes the travelers that the lists of SCIM show otherwise than they are, once everything was imported. The travelers of users whom an
 * IdP has deleted are in no list.
 */
export async function strangerViolations(call: Call, state: ObservedState): Promise<string[]> {
  const broken: string[] = [];
  for (const connection of connections) {
    const listed = await listAll(call, connection);
    broken.push(...wronglyListed(connection, listed, state), ...missingStrangers(connection, listed, state));
  }
  return broken;
}

// biome-ignore lint/suspicious/noExplicitAny: SCIM resources
async function listAll(call: Call, connection: ConnectionName): Promise<any[]> {
  const all = [];
  for (let start = 1; ; start += PAGE) {
    const answer = await call(connection, 'GET', `/Users?startIndex=${start}&count=${PAGE}`);
    const page = answer?.body.Resources ?? [];
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

function missingPeople(connection: ConnectionName, listed: { id: string }[], { people }: ObservedState) {
  return people.flatMap(({ index, current }) => {
    if (current?.connection !== connection) return [];
    const times = listed.filter(({ id }) => id === current.id).length;
    return times === 1 ? [] : [`p${index}: is listed ${times} times by ${connection}`];
  });
}

/** Who has no externalId was found in the travel service, and is shown as the traveler is, but for a user whose DELETE was refused. */
function wronglyListed(
  connection: ConnectionName,
  // biome-ignore lint/suspicious/noExplicitAny: SCIM resources
  listed: any[],
  state: ObservedState,
): string[] {
  const linked = new Set(state.links.values());
  const strangers = listed.filter(({ externalId }) => externalId === undefined);
  return strangers.flatMap((resource) => {
    const traveler = state.travelers.find(({ id }) => id === travelIdOf(resource));
    const isDeactivated = !resource.active && state.record.refusedDeletes.has(resource.id);
    const isRight = traveler && !linked.has(traveler.id) && isShownAs(resource, traveler);
    return isRight || isDeactivated
      ? []
      : [`${connection} lists ${JSON.stringify(resource)} for ${JSON.stringify(traveler)}`];
  });
}

function missingStrangers(
  connection: ConnectionName,
  listed: object[],
  { travelers, links, record, people, decided: { ofLeavers } }: ObservedState,
): string[] {
  const shown = new Set([...listed.map(travelIdOf), ...links.values(), ...ofLeavers]);
  // After a restore, the traveler of a leaver whom the database knows again counts as a stranger.
  const isKnown = ({ id }: TravelUser) =>
    record.memory.get(id)?.owner !== undefined || record.restored.has(id) || record.purged.has(id);
  // A user name is unique: a stranger is not listed under one that a user has.
  const userNames = people.flatMap(({ current }) =>
    current?.connection === connection ? current.wanted.userName.toLowerCase() : [],
  );
  const isStranger = (traveler: TravelUser) => record.strangers.has(traveler.id) && !isKnown(traveler);
  return travelers
    .filter((traveler) => isStranger(traveler) && !isAdmin(traveler) && !PARKING.test(traveler.email))
    .filter(({ id, email }) => !shown.has(id) && !userNames.includes(email.toLowerCase()))
    .map(({ id, email }) => `${connection} does not list ${id} (${email})`);
}

/** A given name that the rules cannot make of any user is left out. */
// biome-ignore lint/suspicious/noExplicitAny: a SCIM resource
function isShownAs({ userName, active, name }: any, { email, archived, lastName }: TravelUser): boolean {
  return userName === email && active === !archived && name?.familyName === lastName;
}
