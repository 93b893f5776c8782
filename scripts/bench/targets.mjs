import { scimToken, travelKey } from './data.mjs';
import { newPerson } from './person.mjs';

const PAGE = 200;
/** The number of people: ten connections never write the same person at the same time. */
const PEOPLE = 200;
const TRAVELERS = 100;
const GROUPS = 10;
const MEMBERS = 100;
/** The number of people that the reads choose from, spread over the whole collection. */
const KNOWN = 2_000;
const LARGE = 100_000;
/** Members in one PATCH: its body stays below the limit of 1 MB. */
const BATCH = 10_000;

/**
 * Selects the resources that the requests of the benchmark name: people spread over the collection and their travelers; for writes
 * also people and groups that this run creates.
 */
export async function chooseTargets(service, { send }, { run, writes }) {
  const scim = (request, status) =>
    sendExpecting(send, `${service.url}/scim/v2`, { token: scimToken, request, status });
  const { totalResults } = await scim({ path: '/Users?count=0' }, 200);
  const isLarge = writes && service.size >= LARGE;
  const all = await sample(scim, totalResults, isLarge ? LARGE : KNOWN);
  const step = Math.ceil(all.length / KNOWN);
  const people = [];
  for (let n = 0; n < PEOPLE; n += 1) {
    people.push(await scim({ method: 'POST', path: '/Users', body: newPerson(`person${run}x${n}`) }, 201));
  }
  const ids = all.map(({ id }) => id);
  return {
    base: `${service.url}/scim/v2`,
    token: scimToken,
    total: totalResults + PEOPLE,
    known: all.filter((_user, n) => n % step === 0),
    people,
    travelers: writes ? await someTravelers(send, service) : [],
    groups: writes ? await smallGroups(scim, ids, run) : [],
    largeGroup: isLarge ? await largeGroup(scim, ids, run) : undefined,
    strangers: ids.slice(MEMBERS),
    added: 0,
  };
}

/** Sends a request, checks the status of the response, and returns its JSON. */
async function sendExpecting(send, base, { token, request, status }) {
  const answer = await send(base, token, request);
  if (answer.status !== status) {
    throw new Error(
      `${request.method ?? 'GET'} ${request.path}: ${answer.status} ${answer.text.slice(0, 300)}`,
    );
  }
  return answer.text === '' ? undefined : JSON.parse(answer.text);
}

/** Reads pages at equal distances, so that the people chosen from them are spread over the tables. */
async function sample(scim, total, wanted) {
  const pages = Math.ceil(Math.min(total, wanted) / PAGE);
  const known = [];
  for (let page = 0; page < pages; page += 1) {
    const startIndex = 1 + Math.floor((page * total) / pages);
    const path = `/Users?startIndex=${startIndex}&count=${PAGE}`;
    known.push(...(await scim({ path }, 200)).Resources);
  }
  const byId = new Map(known.map((user) => [user.id, user]));
  return [...byId.values()].slice(0, wanted);
}

/** Returns the ids of travelers that nobody provisions, without the first traveler, who is the administrator. */
async function someTravelers(send, { url }) {
  const request = { path: `/users?offset=1&limit=${TRAVELERS}` };
  const { data } = await sendExpecting(send, `${url}/api`, { token: travelKey, request, status: 200 });
  return data.map(({ id }) => id);
}

async function smallGroups(scim, ids, run) {
  const groups = [];
  for (let n = 0; n < GROUPS; n += 1) {
    groups.push(await newGroup(scim, `group ${run} ${n}`, ids.slice(0, MEMBERS)));
  }
  return groups;
}

async function largeGroup(scim, ids, run) {
  const group = await newGroup(scim, `large group ${run}`, []);
  for (let first = 0; first < ids.length; first += BATCH) {
    const value = ids.slice(first, first + BATCH).map((id) => ({ value: id }));
    const body = {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'add', path: 'members', value }],
    };
    await scim({ method: 'PATCH', path: `/Groups/${group}`, body }, 204);
  }
  return group;
}

async function newGroup(scim, displayName, ids) {
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group'];
  const body = { schemas, displayName, members: ids.map((value) => ({ value })) };
  return (await scim({ method: 'POST', path: '/Groups', body }, 201)).id;
}
