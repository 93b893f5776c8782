import { isDeepStrictEqual } from 'node:util';
import { parseJson } from '../schema/json-depth.ts';
import { readPath } from './matchers.ts';
import { type Mismatch, type RawClient, substitute, type Variables } from './player.ts';
import type { Step } from './scenario.ts';

/** The travel API to compare with. */
export interface TravelApi {
  /** The base URL, without `/api`, as in TRAVEL_API_URL. */
  url: string;
  key: string;
  /** Resolves after that many milliseconds. */
  pause(ms: number): Promise<void>;
}

/** The travel API, and the SCIM service that names the travelers. */
export interface TravelerCheckDeps {
  client: RawClient;
  scim: { url: string; token: string };
  travel: TravelApi;
}

/** The number of times that a traveler is read until it is as expected: an answer may precede the reconciliation. */
const READINGS = 200;
const PAUSE_MS = 25;
const travelUserId = '["urn:ietf:params:scim:schemas:extension:travel:2.0:User"].travelUserId';

/**
 * Creates the check of a step's `travel`: the fields of the traveler of the user that the step is about. It remembers the travelers of
 * the users in earlier steps, as a user who was deleted cannot be read.
 */
export function travelerCheck(
  deps: TravelerCheckDeps,
): (step: Step, variables: Variables) => Promise<Mismatch[]> {
  const travelers = new Map<unknown, string>();
  const lookUp = async (user: unknown): Promise<string | undefined> => {
    const path = `/Users/${encodeURIComponent(String(user))}`;
    const found = await read(deps.client, deps.scim.url + path, deps.scim.token);
    const id = readPath(found.body, travelUserId);
    if (typeof id === 'string') travelers.set(user, id);
    return travelers.get(user);
  };
  return async (step, variables) => {
    const name = userVariable(step);
    const user = name === undefined ? undefined : variables[name];
    if (user === undefined) return [];
    await lookUp(user);
    if (step.travel === undefined) return [];
    const ofVariable = (other: string) => travelers.get(variables[other]);
    const expected = expectedFields(step.travel, variables, ofVariable);
    return compareTraveler(expected, () => lookUp(user), deps);
  };
}

/** Returns the variable with the id of the user that a step is about. */
function userVariable({ request, capture }: Step): string | undefined {
  if (!request.path.startsWith('/Users')) return undefined;
  const named = /^\/Users\/\{\{(\w+)\}\}/.exec(request.path)?.[1];
  return named ?? Object.entries(capture).find(([, path]) => path === 'id')?.[0];
}

type Fields = Record<string, unknown>;

/** Substitutes variables and references to other travelers. Any other text in `<>` describes a value and is not compared. */
function expectedFields(
  travel: Fields,
  variables: Variables,
  travelerOf: (variable: string) => string | undefined,
): Fields {
  const fields = Object.entries(travel).flatMap(([field, value]): [string, unknown][] => {
    const other = /^<travel id of (\w+)>$/.exec(String(value))?.[1];
    if (other !== undefined) return [[field, travelerOf(other)]];
    return /^<.*>$/s.test(String(value)) ? [] : [[field, substitute(value, variables)]];
  });
  return Object.fromEntries(fields);
}

async function compareTraveler(
  expected: Fields,
  lookUp: () => Promise<string | undefined>,
  { client, travel }: TravelerCheckDeps,
): Promise<Mismatch[]> {
  let mismatches: Mismatch[] = [];
  for (let reading = 1; reading <= READINGS; reading += 1) {
    const id = await lookUp();
    const found =
      id === undefined ? undefined : await read(client, `${travel.url}/api/users/${id}`, travel.key);
    if (found && found.status !== 200 && found.status !== 404)
      return [{ at: 'travel API', expected: '200', actual: String(found.status) }];
    mismatches = fieldMismatches(expected, readPath(found?.body, 'data'));
    if (mismatches.length === 0) return [];
    await travel.pause(PAUSE_MS);
  }
  return mismatches;
}

function fieldMismatches(expected: Fields, traveler: unknown): Mismatch[] {
  if (traveler === undefined) return [{ at: 'traveler', expected, actual: undefined }];
  const fields: Fields = Object(traveler);
  return Object.entries(expected).flatMap(([field, value]) => {
    const actual = fields[field] ?? null;
    return isDeepStrictEqual(actual, value) ? [] : [{ at: `traveler: ${field}`, expected: value, actual }];
  });
}

async function read(
  client: RawClient,
  url: string,
  token: string,
): Promise<{ status: number; body: unknown }> {
  const { origin, pathname } = new URL(url);
  const headers = { Authorization: `Bearer ${token}` };
  const { status, body } = await client.send(origin, pathname, { method: 'GET', headers, body: undefined });
  return { status, body: parseJson(body) };
}
