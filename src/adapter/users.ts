import type { CallCause } from '../model/exchange.ts';
import type { TravelAnswer, TravelFailure, TravelUsers } from '../model/travel-ports.ts';
import type { TravelerChange, TravelUser } from '../model/traveler.ts';
import { foldCase } from '../schema/case-fold.ts';
import { readPage } from './collection.ts';
import { toCollectionAnswer } from './http/answers.ts';
import type { Deadline, ReadBody, TravelClient, TravelRequest } from './http/client.ts';
import { asObject } from './json.ts';

/**
 * Reads and writes travelers over HTTP. No method retries, and each makes one request, except for changes in a travel API whose profile
 * needs more of them.
 */
export function travelUsers(client: TravelClient): TravelUsers {
  const { paths, travelers, unwrap, wrap, readId } = client.profile;
  const path = paths.users;
  const { call, readTraveler } = travelerCalls(client);
  const changeTraveler = travelerChanges(client);
  return {
    create: async (traveler, key, cause) => {
      const { idempotencyHeader: header, toResource } = travelers;
      const headers: Record<string, string> = header ? { [header]: key } : {};
      const body = wrap(toResource(traveler, {}));
      const request = { path, body, headers, change: traveler, deadline: client.deadline(), cause };
      const created = await client.call(
        { method: 'POST', operation: 'createTraveler', needsOwnError: true, ...request },
        readTraveler,
      );
      return toCollectionAnswer(`POST ${path}`, created);
    },
    read: (id, cause) => call(id, { method: 'GET', operation: 'readTraveler', cause }, readTraveler),
    patch: (id, changes, cause) => changeTraveler(id, changes, { deadline: client.deadline(), cause }),
    remove: (id, cause) =>
      call(id, { method: 'DELETE', operation: 'deleteTraveler', cause }, (body) =>
        body ? unwrap(body) : {},
      ),
    findByEmails: async (emails, timeoutMs, cause) =>
      emails.length === 0
        ? { kind: 'ok', value: [] }
        : searchByEmails(client, emails, { deadline: client.deadline(timeoutMs), cause }),
    readPage: async (offset, limit, token) => {
      const start = { offset, token };
      const request = { path, limit, start, read: travelers.read };
      const answer = await readPage(client, { ...request, operation: 'listTravelers' });
      if (answer.kind !== 'ok') return answer;
      const { items: users, unreadable, ...rest } = answer.value;
      return { kind: 'ok', value: { users, unreadable: unreadable.map(readId), ...rest } };
    },
    serverTime: client.serverTime,
  };
}

/** Searches for exact addresses without case. Travelers are sorted by the order of the addresses, because the first one is preferred. */
async function searchByEmails(
  client: TravelClient,
  emails: string[],
  context: CallContext,
): Promise<TravelAnswer<TravelUser[]>> {
  const { paths, travelers } = client.profile;
  const wanted = new Set(emails.map(foldCase));
  const search = travelers.emailQuery([...new Set(emails.flatMap(spellingsOf))]);
  const request = { path: paths.users, search, limit: 100, read: travelers.read, ...context };
  const answer = await readPage(client, { ...request, operation: 'searchTravelers' });
  if (answer.kind !== 'ok') return answer;
  // A travel API that ignores the filter returns all travelers; another person must not be linked.
  const found = answer.value.items.filter(({ email }) => wanted.has(foldCase(email)));
  const order = [...wanted];
  const rank = ({ email }: TravelUser) => order.indexOf(foldCase(email));
  return { kind: 'ok', value: found.sort((one, other) => rank(one) - rank(other)) };
}

/** Makes the calls about one traveler. */
function travelerCalls(client: TravelClient) {
  const { paths, travelers, unwrap } = client.profile;
  const call = async <T>(
    id: string,
    { segment, ...request }: Omit<TravelRequest, 'path'> & { segment?: string },
    read: ReadBody<T>,
  ): Promise<TravelAnswer<T>> => {
    if (!isPathSegment(id)) return { kind: 'notFound' };
    const path = [paths.users, encodeURIComponent(id), ...(segment ? [segment] : [])].join('/');
    return client.call({ ...request, path, needsOwnError: true }, read);
  };
  const readTraveler: ReadBody<TravelUser> = (body) => body && travelers.read(unwrap(body));
  return { call, readTraveler };
}

/** The deadline of a call, and the request that caused it: all requests of a change have the same. */
interface CallContext {
  deadline: Deadline;
  cause: CallCause | undefined;
}

/** Makes the function that changes a traveler, in as many requests as the profile needs. */
function travelerChanges(client: TravelClient) {
  const { travelers, unwrap, wrap } = client.profile;
  const { update, archiving, toResource } = travelers;
  const operation = 'updateTraveler';
  const { call, readTraveler } = travelerCalls(client);
  const sendFields = async (id: string, change: TravelerChange, context: CallContext) => {
    if (update.method === 'PATCH') {
      const body = wrap(toResource(change, {}));
      return call(id, { ...update, operation, body, change, ...context }, readTraveler);
    }
    const request = { method: 'GET', operation: 'readTraveler', ...context } as const;
    const read = await call(id, request, (body, etag) => {
      const before = body && asObject(unwrap(body));
      return before && { before, headers: etag === undefined ? {} : { 'If-Match': etag } };
    });
    if (read.kind !== 'ok') return toUnsent(read);
    const { before, headers } = read.value;
    const body = wrap(toResource(change, before));
    return call(id, { method: 'PUT', operation, body, headers, change, ...context }, readTraveler);
  };
  return async (id: string, change: TravelerChange, context: CallContext) => {
    const { archived, ...fields } = change;
    if (!archiving || archived === undefined) return sendFields(id, change, context);
    const segment = archived ? archiving.archive : archiving.restore;
    const archive = () => call(id, { method: 'POST', operation, segment, change, ...context }, readTraveler);
    if (Object.keys(fields).length === 0) return archive();
    const send = () => sendFields(id, fields, context);
    // A leaver loses access first. A person who returns gets it last: until then the traveler may have the values of somebody else.
    return archived ? inOrder(archive, send) : inOrder(send, archive);
  };
}

type Step = () => Promise<TravelAnswer<TravelUser>>;

/** Makes two requests that are one change. */
async function inOrder(first: Step, second: Step): Promise<TravelAnswer<TravelUser>> {
  const begun = await first();
  if (begun.kind !== 'ok') return begun;
  const ended = await second();
  return ended.kind === 'ok' ? ended : toHalfDone(ended);
}

/** After a half of a change its outcome counts as unknown, so that the traveler is read before the rest is sent again. */
function toHalfDone(failure: TravelFailure): TravelFailure {
  if (failure.kind !== 'unavailable')
    return { kind: 'unavailable', text: `a change was carried out in part, the rest is ${failure.kind}` };
  const { isRejected: _, ...rest } = failure;
  return rest.isThrottled ? { ...rest, isDoubtful: true } : rest;
}

/** If the read before a change fails, nothing was sent, so there is no doubt about the outcome. After a bare 404 the traveler is read again. */
function toUnsent(failure: TravelFailure): TravelFailure {
  if (failure.kind !== 'unavailable' || failure.bareStatus !== undefined) return failure;
  const { isDoubtful: _, ...rest } = failure;
  return rest.isThrottled ? rest : { ...rest, isRejected: true };
}

/** Returns false for an id that is not one path segment: `users/..` is not the path of a traveler. */
function isPathSegment(id: string): boolean {
  return id !== '' && id !== '.' && id !== '..';
}

/**
 * The spellings under which an address is searched. A travel API that compares exactly may have stored another spelling
 * than the identity provider sends.
 */
function spellingsOf(email: string): string[] {
  const folded = foldCase(email);
  return [email, email.normalize('NFC'), email.normalize('NFD'), folded, folded.normalize('NFD')];
}
