import { randomUUID } from 'node:crypto';

const SELF = { id: 'the-bridge', email: 'bridge@example.com', archived: false, roles: ['admin'] };
const NOT_FOUND = { status: 404, body: { error: 'notFound' } };

/**
 * Answers one call of an account of the travel API: users, the user of the credential, and collections that are empty. Counts
 * it by its method and the kind of its path.
 */
export function answerCall(account, { method, url }, text) {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const [, api, collection, id] = pathname.split('/');
  if (api !== 'api') return NOT_FOUND;
  const kind = kindOf(method, { collection, id, searchParams });
  account.calls.set(kind, (account.calls.get(kind) ?? 0) + 1);
  if (collection === 'whoami') return ok(SELF);
  if (collection !== 'users') return list([], searchParams);
  const data = text === '' ? undefined : JSON.parse(text).data;
  if (id !== undefined) return answerOne(account, { method, id, data });
  if (method === 'POST') return create(account, data);
  const emails = searchParams.get('emails');
  if (emails === null) return list(account.order, searchParams);
  const found = new Set(emails.split(',').map((email) => account.byEmail.get(email.toLowerCase())));
  return list(
    [...found].filter((traveler) => traveler !== undefined),
    searchParams,
  );
}

/** The names under which the calls are reported. */
function kindOf(method, { collection, id, searchParams }) {
  if (collection !== 'users') return 'other';
  if (method === 'GET' && id === undefined) return searchParams.has('emails') ? 'search' : 'page';
  return { GET: 'read', POST: 'create', PATCH: 'patch', DELETE: 'delete' }[method] ?? 'other';
}

function create(account, data) {
  const email = data.email.toLowerCase();
  if (account.byEmail.has(email)) return { status: 409, body: { error: 'conflict' } };
  const traveler = { ...data, id: randomUUID(), archived: false, createdAt: new Date().toISOString(), email };
  account.travelers.set(traveler.id, traveler);
  account.byEmail.set(email, traveler);
  account.order.push(traveler);
  return ok(traveler, 201);
}

function answerOne(account, { method, id, data }) {
  const traveler = account.travelers.get(id);
  if (!traveler) return NOT_FOUND;
  if (method === 'DELETE') traveler.archived = true;
  if (method === 'PATCH') {
    if (data.email !== undefined) account.byEmail.delete(traveler.email);
    mergePatch(traveler, data);
    account.byEmail.set(traveler.email, traveler);
  }
  return ok(traveler);
}

/** RFC 7396: null removes, objects are merged, everything else replaces. */
function mergePatch(target, patch) {
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete target[name];
    else if (typeof value === 'object' && !Array.isArray(value)) {
      target[name] ??= {};
      mergePatch(target[name], value);
    } else target[name] = value;
  }
}

function list(items, searchParams) {
  const offset = Number(searchParams.get('offset') ?? 0);
  const limit = Number(searchParams.get('limit') ?? 10);
  const data = items.slice(offset, offset + limit);
  return { status: 200, body: { data, meta: { total: items.length, offset, limit } } };
}

function ok(data, status = 200) {
  return { status, body: { data } };
}
