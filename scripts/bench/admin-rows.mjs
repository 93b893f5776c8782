import { pick } from './pick.mjs';

/** The connections, the largest first. */
export const CONNECTIONS = ['okta', 'entra', 'workday'];

const DAY_MS = 24 * 60 * 60_000;
const FIRST = [
  'Ada',
  'Grace',
  'Alan',
  'Barbara',
  'Edsger',
  'Katherine',
  'Linus',
  'Margaret',
  'Niklaus',
  'Radia',
];
const LAST = [
  'Lovelace',
  'Hopper',
  'Turing',
  'Liskov',
  'Dijkstra',
  'Johnson',
  'Hamilton',
  'Wirth',
  'Perlman',
];

/** The codes of findings. The first one is that of five people in a million. */
export const CODES = [
  ...['rareFinding', 'noEmail', 'emailTaken', 'existingUser', 'emailReserved', 'emailHeldByLeaver'],
  ...['drift', 'refusedByTravelApi', 'forbidden', 'safetyValve', 'unknownCostCenter'],
];

/** The id of a person, in mixed order. */
export function personId(n) {
  return `${((n * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0')}-${n.toString(16).padStart(8, '0')}`;
}

/** 60 % of the people are in the first connection, 30 % in the second. */
export function connectionOf(n) {
  const share = n % 10;
  return share < 6 ? 'okta' : share < 9 ? 'entra' : 'workday';
}

/** Of 1,000 people 30 are not in step, 5 of these are held; 20 have a finding; 20 are inactive, 10 are deleted. */
export function person(n, now) {
  const [first, last] = [pick(FIRST, n), pick(LAST, n)];
  const email = `${first}.${last}.${n}@corp.example`.toLowerCase();
  const isDeleted = n % 100 === 31;
  const createdAt = now - 300 * DAY_MS + n;
  const travelId = `t${n}`;
  const sent = (value) => ({ sent: value, answered: value, source: value });
  return {
    ...{ connection: connectionOf(n), id: personId(n), claimed: n % 10 !== 4, ...standing(n, now) },
    desired: {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      ...{ userName: email, externalId: `E${n}`, displayName: `${first} ${last} ${n}` },
      name: { givenName: first, familyName: `${last} ${n}` },
      emails: [{ value: email, type: 'work', primary: true }],
      phoneNumbers: [{ value: '+33612345678', type: 'mobile' }],
      title: 'Engineer',
      active: n % 50 !== 7 && !isDeleted && !isLeaving(n),
    },
    ...{ version: 3, revision: 4, rulesGeneration: 200, travelId, refused: {}, progress: {}, origin: {} },
    applied: { email: sent(email), firstName: sent(first), lastName: sent(last) },
    observed: { id: travelId, email, archived: isDeleted, createdAt: '2026-01-01T00:00:00Z' },
    ...{ trace: [], createdAt, lastModified: createdAt + (n % 250) * DAY_MS },
    ...(isDeleted ? { deletedAt: now - (n % 30) * DAY_MS } : {}),
  };
}

/** True for a person whose departure is held. */
function isLeaving(n) {
  return n % 1000 >= 25 && n % 1000 < 30;
}

function causeOf(n) {
  return pick(['safetyValve', 'guarded'], n);
}

function standing(n, now) {
  const place = n % 1000;
  const findings = findingsOf(n);
  if (place < 12) return { state: 'dirty', attempts: n % 2, nextAttemptAt: now + 3_600_000, findings };
  if (place < 18) return { state: 'pending', attempts: 0, findings };
  if (place < 25) return { state: 'refused', attempts: 0, findings };
  if (place >= 30) return { state: 'synced', attempts: 0, findings };
  const hold = { cause: causeOf(n), since: now - (n % 86_400) * 1_000 };
  return { state: 'held', attempts: 0, findings, hold };
}

function findingsOf(n) {
  if (Math.floor(n / 10) % 50 !== 1) return [];
  const code = n % 200_000 === 12 ? CODES[0] : pick(CODES.slice(1), Math.floor(n / 50));
  return [
    {
      ...{ field: 'email', code, path: 'emails', reason: 'The user has no usable email address.' },
      remedy: 'Give the user an email address in the identity provider.',
    },
  ];
}

const WEEK_MS = 7 * DAY_MS;
/** The time between two groups of 20 requests of a cycle, in milliseconds. */
const COLLECT_MS = 500;

/**
 * Makes the exchanges of a week, the oldest first. Two thirds are those of cycles of the identity providers, which come 40 in a
 * second; the others come one by one.
 */
export function* exchanges(count, now) {
  const start = now - WEEK_MS;
  const perCycle = 4_000;
  const cycles = Math.max(1, Math.round((count * 2) / 3 / perCycle));
  const between = Math.floor((count - cycles * perCycle) / cycles);
  let n = 0;
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const began = start + (cycle * WEEK_MS) / cycles;
    for (let done = 0; done < perCycle; done += 20, n += 20) {
      const at = began + (done / 20) * COLLECT_MS;
      const connection = pick(CONNECTIONS, cycle);
      for (let k = 0; k < 20; k += 1) yield { connection, ...exchange(n + k, at + k * 20) };
    }
    const rest = WEEK_MS / cycles - (perCycle / 20) * COLLECT_MS;
    for (let k = 0; k < between; k += 1, n += 1) {
      const at = Math.floor(began + (perCycle / 20) * COLLECT_MS + (k * rest) / between);
      yield { connection: connectionOf(n), ...exchange(n, at) };
    }
  }
}

/** Of four exchanges two are requests that read, one writes, and one is the call that it causes. 1 % fail, few of them with 503. */
function exchange(n, at) {
  const kind = n % 4;
  const id = personId(Math.floor(n / 4) * 7);
  const failure = n % 100 === 17 ? 409 : n % 50_000 === 22 ? 503 : undefined;
  const shared = {
    at: Math.floor(at),
    ms: n % 90,
    requestId: `request-${Math.floor(n / 4)}`,
    error: undefined,
  };
  const headers = { requestHeaders: { 'user-agent': 'okta-scim/2' }, responseHeaders: {} };
  if (kind < 2) {
    const path = `/scim/v2/Users?filter=userName+eq+%22user${n}%40corp.example%22`;
    return {
      ...shared,
      ...headers,
      direction: 'scim',
      method: 'GET',
      path,
      status: failure ?? 200,
      person: undefined,
    };
  }
  const text = JSON.stringify({ data: { id, email: `user${n}@corp.example`, name: 'Ada Lovelace', n } });
  const bodies = { requestBody: { text, isCut: false }, responseBody: { text, isCut: false } };
  if (kind === 2) {
    const write = {
      direction: 'scim',
      method: 'PATCH',
      path: `/scim/v2/Users/${id}`,
      status: failure ?? 200,
    };
    return { ...shared, ...headers, ...bodies, ...write, person: id };
  }
  const call = { direction: 'travel', method: 'PATCH', path: `/api/users/t${n}`, status: failure ?? 200 };
  return { ...shared, ...headers, ...bodies, ...call, person: id };
}
