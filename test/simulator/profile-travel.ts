import { toTravelAnswer, toUnreadableFailure } from '../../src/adapter/http/answers.ts';
import type { Deadline, ReadBody, TravelClient, TravelRequest } from '../../src/adapter/http/client.ts';
import type { TravelProfile } from '../../src/adapter/profile.ts';
import { genericRestProfile } from '../../src/adapter/profiles/generic-rest.ts';
import { jetbridgeProfile } from '../../src/adapter/profiles/jetbridge.ts';
import { travelUsers } from '../../src/adapter/users.ts';
import type { TravelAnswer, TravelUsers } from '../../src/model/travel-ports.ts';
import type { TravelUser } from '../../src/model/traveler.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { type FakeTravel, mergePatch } from '../fixtures/fake-travel.ts';
import { carryOutGenericRest } from '../fixtures/generic-rest-requests.ts';
import {
  carryOut as carryOutJetbridge,
  type TravelContext,
  type TravelResponse,
} from '../fixtures/other-travel-requests.ts';
import type { Resource, Resources, Written } from '../fixtures/other-travel-resources.ts';
import type { VirtualTime } from './virtual-time.ts';

interface Deps {
  fake: FakeTravel;
  time: VirtualTime;
  timeoutMs: number;
  serverTime(): number | undefined;
  /** Carries a request out, with its fault if it has one. */
  call<T>(text: string, carryOut: () => Promise<TravelAnswer<T>>, isWrite: boolean): Promise<TravelAnswer<T>>;
  /** Keeps a traveler after a change, and tells the feed. Returns it as it is kept. */
  keep(kind: string, traveler: TravelUser, before?: TravelUser): TravelUser;
  remove(traveler: TravelUser): void;
}

/** Each profile of the adapter, with the travel API that it is for. */
const profiles = {
  jetbridge: { profile: jetbridgeProfile({}), carryOut: carryOutJetbridge },
  'generic-rest': { profile: genericRestProfile({}), carryOut: carryOutGenericRest },
} as const;

export type ProfileName = keyof typeof profiles;

/** Calls the simulated travel service by the adapter with a profile: each request is a call of its own, with its own fault. */
export function profileUsers(name: ProfileName, deps: Deps): TravelUsers {
  const { time, timeoutMs, call, serverTime } = deps;
  const { profile, carryOut } = profiles[name];
  const context = newContext(deps);
  const ends = new WeakMap<Deadline, number>();
  const deadline = () => {
    const created = { signal: new AbortController().signal, ms: timeoutMs };
    ends.set(created, time.now() + timeoutMs);
    return created;
  };
  const client: TravelClient = {
    ...{ profile, deadline, serverTime },
    close: () => {},
    outage: () => undefined,
    call: async <T>(request: TravelRequest, read: ReadBody<T>) => {
      const within = ends.get(request.deadline ?? deadline()) ?? 0;
      const answer = async () => answerOf(profile, request, carryOut(toReceived(request), context), read);
      const text = [request.method, request.path, JSON.stringify(request.body) ?? ''].join(' ').trim();
      const answering = call(text, answer, request.method !== 'GET');
      const ended = new AbortController();
      const late = time.wait(within - time.now(), ended.signal).then(() => unanswered);
      const first = await Promise.race([answering, late]);
      ended.abort();
      return first;
    },
  };
  return travelUsers(client);
}

const unanswered = { kind: 'unavailable', text: 'no answer came', isUnanswered: true } as const;

function newContext(deps: Deps): TravelContext {
  return {
    resources: resourcesOf(deps),
    habits: {
      ...{
        comparesEmailsExactly: false,
        givesTotal: true,
        forbidden: new Set(),
        takesOptionsByIdAlone: false,
      },
      ...{ refusesDisabledFields: false, namesCustomFieldsBy: 'id', patchMediaTypes: ['application/json'] },
      ...{ givesAcceptPatch: false, mandatoryUserFields: [], clockAheadMs: 0 },
    },
    ...{ key: 'key', selfId: '', keptCreates: new Map() },
  };
}

function toReceived(request: TravelRequest) {
  const { method, path, query = {}, headers = {}, body } = request;
  const parameters = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  return {
    ...{ method, path, query: new URLSearchParams(parameters), contentType: 'application/json' },
    authorization: 'Bearer key',
    idempotencyKey: headers['Idempotency-Key'],
    ifMatch: headers['If-Match'],
    body: body === undefined ? '' : JSON.stringify(body),
  };
}

function answerOf<T>(
  { errors }: TravelProfile,
  { method, path, change, needsOwnError }: TravelRequest,
  { status, headers = {}, body }: TravelResponse,
  read: ReadBody<T>,
): TravelAnswer<T> {
  const none = { retryAfter: undefined, date: undefined, acceptPatch: undefined };
  const text = body === undefined ? '' : JSON.stringify(body);
  const response = { status, body: text, ...none, etag: headers['etag'] };
  const answer = toTravelAnswer(`${method} ${path}`, response, 0, { errors, change, needsOwnError });
  if (answer.kind !== 'ok') return answer;
  const value = read(answer.value, response.etag);
  return value === undefined ? toUnreadableFailure(`${method} ${path}`) : { kind: 'ok', value };
}

/** The travelers of the simulated travel service as resources. It has no other collections here. */
function resourcesOf({ fake, keep, remove }: Deps): Resources {
  const all = () => [...fake.travelers.values()];
  const toResource = (traveler: TravelUser) => JSON.parse(JSON.stringify(traveler)) as Resource;
  const isTaken = (email: unknown, id?: string) =>
    all().some((one) => one.id !== id && one.email.toLowerCase() === String(email).toLowerCase());
  const rewrite = (id: string, make: (before: TravelUser) => JsonObject): Written => {
    const before = fake.travelers.get(id);
    if (!before) return 'notFound';
    const next = make(before) as unknown as TravelUser; // The members of a traveler are changed to others of one.
    if (isTaken(next.email, id)) return 'conflict';
    const { createdAt } = before;
    return { resource: toResource(keep('user.updated', { ...next, id, createdAt }, before)) };
  };
  return {
    list: () => all().map(toResource),
    find: (_name, id) => {
      const traveler = fake.travelers.get(id);
      return traveler && toResource(traveler);
    },
    create: (_name, data) => {
      if (isTaken(data.email)) return 'conflict';
      const traveler = fake.addTraveler(data as unknown as Parameters<FakeTravel['addTraveler']>[0]); // As in `rewrite`.
      return { resource: toResource(keep('user.created', traveler)) };
    },
    patch: (_name, id, changes) => rewrite(id, (before) => mergePatch(toResource(before), changes)),
    replace: (_name, id, data) => rewrite(id, () => data),
    remove: (_name, id) => {
      const traveler = fake.travelers.get(id);
      if (traveler) remove(traveler);
      return traveler && toResource(traveler);
    },
  };
}
