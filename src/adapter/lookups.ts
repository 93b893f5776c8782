import type { Log } from '../model/runtime-ports.ts';
import type { CustomField, Lookups, NamedCollection, ScimUserMapping } from '../model/translation.ts';
import type { TravelAnswer, TravelFailure, TravelLookups } from '../model/travel-ports.ts';
import type { TravelUser } from '../model/traveler.ts';
import { newSizeBudget, readCollection, type SizeBudget } from './collection.ts';
import { toCollectionAnswer } from './http/answers.ts';
import type { TravelClient } from './http/client.ts';
import type { TravelProfile } from './profile.ts';

/** The age at which cached lookups are read again, in milliseconds. */
const FRESH_MS = 60_000;
/**
 * `refresh` returns cached lookups up to this age, in milliseconds, so that many users with an unknown cost center
 * cause only one reading.
 */
const REFRESH_FRESH_MS = 3_000;
/**
 * The delay after a failed reading, in milliseconds: long enough not to flood the travel API, and short enough to
 * recover quickly.
 */
const RETRY_MS = 1_000;
/** The age at which lookups are read again if some parts could not be read and keep their older values, in milliseconds. */
const PARTIAL_FRESH_MS = 5_000;
/** The longest Retry-After that is obeyed, in milliseconds. */
const MAX_REQUESTED_DELAY_MS = 60_000;

/** The source of the lookups, and the time for which they are used. */
export interface LookupSettings {
  client: TravelClient;
  now(): number;
  log: Pick<Log, 'warn' | 'error'>;
  /** The name of the connection in the log. */
  connection?: string;
}

/** The cached lookups of one connection. An operator can see which parts are outdated. */
export interface CachedLookups extends TravelLookups {
  /** Returns the parts whose last reading failed, so that older values are used. */
  stale(): (keyof Lookups)[];
  /** Returns how long ago each part was read, in milliseconds. A part that was never read is left out. */
  ages(): ReadonlyMap<string, number>;
}

interface Reading {
  /**
   * The value of the expiry counter when the reading began: if the counter has changed since, the reading may miss
   * changes. Undefined while the reading waits for the previous one.
   */
  epoch: number | undefined;
  answer: Promise<TravelAnswer<Lookups>>;
  /** The end of the reading, and the milliseconds for which each mode uses its result; undefined while it runs. */
  ended: { at: number; freshMs: Record<ReadMode, number> } | undefined;
}

/** The cached lookups that are accepted: `current` accepts any that are fresh, `refresh` only very recent ones. */
type ReadMode = 'current' | 'refresh';

/**
 * Reads the lookups on demand and caches them. Concurrent callers share one reading. At most one reading runs and one waits,
 * no matter how often something changes meanwhile.
 */
export function travelLookups(settings: LookupSettings): CachedLookups {
  const { client, now } = settings;
  let epoch = 0;
  let last: Reading | undefined;
  const stale: StaleParts = new Map();
  const known: KnownLookups = { values: {}, adoptions: 0, readAt: new Map() };
  const parts = lookupParts(tolerateForbidden(settings, stale), client.profile, known);
  const read = createReader({ parts, stale, known }, settings, () => epoch);
  const isUsable = (reading: Reading, mode: ReadMode) =>
    reading.epoch === undefined || (reading.epoch === epoch && !isExpired(reading, mode, now()));
  const lookUp = (mode: ReadMode): Promise<TravelAnswer<Lookups>> => {
    if (!last || !isUsable(last, mode)) last = read(last);
    return last.answer;
  };
  const ownUser = createOwnUserReader(client);
  return {
    current: () => lookUp('current'),
    refresh: () => lookUp('refresh'),
    expire: () => {
      epoch += 1;
    },
    adopt: (lookups, isRecent) => {
      known.adoptions += 1;
      known.values = { ...lookups };
      if (!isRecent) return;
      const ended = { at: now(), freshMs: { current: FRESH_MS, refresh: REFRESH_FRESH_MS } };
      for (const part of lookupNames) known.readAt.set(part, ended.at);
      last = { epoch, ended, answer: Promise.resolve({ kind: 'ok', value: lookups }) };
    },
    areCached: () => last?.ended !== undefined && isUsable(last, 'current') && ownUser.isKnown(),
    readOwnUser: ownUser.read,
    stale: () => [...new Set(stale.values())].sort(),
    ages: () => new Map([...known.readAt].map(([part, at]) => [part, now() - at])),
  };
}

function isExpired({ ended }: Reading, mode: ReadMode, now: number): boolean {
  return ended !== undefined && now - ended.at >= ended.freshMs[mode];
}

/**
 * The parts that have older values. The key is the path that was forbidden, or the name of the part that could not be
 * read.
 */
type StaleParts = Map<string, keyof Lookups>;

/** The values that replace a part or a collection that cannot be read. */
interface KnownLookups {
  values: Partial<Lookups>;
  /** The number of times that lookups in force were adopted: a reading that began before does not replace them. */
  adoptions: number;
  /** The time at which each part was last read, by the clock of the settings. */
  readAt: Map<keyof Lookups, number>;
}

/**
 * Reads collections that the credential may not be allowed to read. A forbidden collection (403) of which nothing is known counts
 * as empty: the travel account does not use it. Otherwise its known items are used, and an error is logged.
 */
function tolerateForbidden({ client, log, connection }: LookupSettings, stale: StaleParts): ReadCollection {
  const forbidden = new Set<string>();
  return async ({ part, path, read, known = [], budget }) => {
    const answer = await readCollection(client, path, read, budget);
    if (answer.kind === 'ok') {
      stale.delete(path);
      forbidden.delete(path);
    }
    if (answer.kind !== 'forbidden') return answer;
    const wasRead = known.length > 0;
    if (wasRead) stale.set(path, part);
    if (!forbidden.has(path)) logForbidden(log, { connection, part, path, wasRead });
    forbidden.add(path);
    return { kind: 'ok', value: known };
  };
}

function logForbidden(
  log: LookupSettings['log'],
  { wasRead, ...fields }: { connection: string | undefined; part: string; path: string; wasRead: boolean },
): void {
  if (wasRead)
    log.error(
      fields,
      'the travel API no longer allows reading a collection (403); keeping its last values: check the permissions of the travel credential',
    );
  else
    log.warn(
      fields,
      'the travel API does not allow reading a collection (403); treating it as empty: check the permissions of the travel credential',
    );
}

/** Starts readings one after another, so that the values of an older reading never replace newer ones. */
function createReader(
  { parts, stale, known }: { parts: LookupParts; stale: StaleParts; known: KnownLookups },
  { now, log }: Pick<LookupSettings, 'now' | 'log'>,
  presentEpoch: () => number,
): (before: Reading | undefined) => Reading {
  return (before) => {
    const previous = before?.ended ? undefined : before;
    const readLookups = async (): Promise<TravelAnswer<Lookups>> => {
      if (previous) {
        await previous.answer;
        reading.epoch = presentEpoch();
      }
      const { adoptions } = known;
      const { values, failure } = await readParts(parts, known, { stale, log });
      const value = toLookups({ ...known.values, ...values });
      if (known.adoptions === adoptions) known.values = { ...known.values, ...values };
      const old = [...stale.values()];
      for (const part of lookupNames) if (values[part] && !old.includes(part)) known.readAt.set(part, now());
      const requested = failure === undefined ? 0 : requestedDelay(failure);
      const usableMs = failure === undefined ? FRESH_MS : value ? PARTIAL_FRESH_MS : RETRY_MS;
      const current = Math.max(usableMs, requested);
      reading.ended = {
        at: now(),
        freshMs: { current, refresh: Math.min(current, Math.max(REFRESH_FRESH_MS, requested)) },
      };
      return value ? { kind: 'ok', value } : (failure ?? { kind: 'unavailable', text: 'nothing was read' });
    };
    const epoch = previous ? undefined : presentEpoch();
    const reading: Reading = { epoch, answer: readLookups(), ended: undefined };
    return reading;
  };
}

/** The Retry-After of a failure in milliseconds, up to a minute. */
function requestedDelay(failure: TravelFailure): number {
  return failure.kind === 'unavailable' ? Math.min(MAX_REQUESTED_DELAY_MS, failure.retryAfterMs ?? 0) : 0;
}

/** Reads all parts. Returns the values of those that could be read, and the first failure. */
async function readParts(
  parts: LookupParts,
  known: KnownLookups,
  { stale, log }: { stale: StaleParts; log: Pick<Log, 'warn'> },
): Promise<{ values: Partial<Lookups>; failure: TravelFailure | undefined }> {
  const values: Partial<Lookups> = {};
  const read = async <Part extends keyof Lookups>(part: Part): Promise<TravelFailure | undefined> => {
    const answer = await parts[part]();
    if (answer.kind === 'ok') {
      values[part] = answer.value;
      stale.delete(part);
      return undefined;
    }
    const isStale = known.values[part] !== undefined;
    if (isStale) stale.set(part, part);
    const failure = answer.kind === 'unavailable' ? answer.text : answer.kind;
    log.warn({ part, failure, stale: isStale }, 'a part of the lookups could not be read');
    return answer;
  };
  const failures = await Promise.all(lookupNames.map(read));
  return { values, failure: failures.find((failure) => failure !== undefined) };
}

const lookupNames = [
  ...(['customFields', 'costCenters', 'billingProfiles'] as const),
  ...(['travelPolicies', 'scimUserMappings'] as const),
];

function toLookups(values: Partial<Lookups>): Lookups | undefined {
  const { customFields, costCenters, billingProfiles, travelPolicies, scimUserMappings } = values;
  if (!customFields || !costCenters || !billingProfiles || !travelPolicies || !scimUserMappings)
    return undefined;
  return { customFields, costCenters, billingProfiles, travelPolicies, scimUserMappings };
}

/** Reads the traveler of the credential once: it cannot change while the credential is used. */
function createOwnUserReader(client: TravelClient) {
  const { paths, travelers, unwrap } = client.profile;
  const path = paths.whoami;
  let reading: Promise<TravelAnswer<TravelUser>> | undefined;
  let isKnown = false;
  const read = async () => {
    const request = { method: 'GET', path, operation: 'readOwnUser' } as const;
    const answer = await client.call(request, (body) => body && travelers.read(unwrap(body)));
    if (answer.kind === 'ok') isKnown = true;
    else reading = undefined;
    return toCollectionAnswer(`GET ${path}`, answer);
  };
  return {
    isKnown: () => isKnown,
    read: (): Promise<TravelAnswer<TravelUser>> => {
      reading ??= read();
      return reading;
    },
  };
}

/** The functions that read the parts of the lookups. */
type LookupParts = { [Part in keyof Lookups]: () => Promise<TravelAnswer<Lookups[Part]>> };

/** Reads a whole collection for one part of the lookups. `known` has the items that are used if it is forbidden. */
type ReadCollection = <T>(collection: {
  part: keyof Lookups;
  path: string;
  read: (item: unknown) => T | undefined;
  known: T[] | undefined;
  budget?: SizeBudget;
}) => Promise<TravelAnswer<T[]>>;

/** Makes the functions that read the lookups of one travel account. */
function lookupParts(readAll: ReadCollection, profile: TravelProfile, known: KnownLookups): LookupParts {
  const { paths, lookups } = profile;
  const readNamed = (part: NamedCollection) => () =>
    readAll({ part, path: paths[part], read: lookups.readNamed, known: known.values[part] });
  return {
    customFields: () => readCustomFields(readAll, profile, known),
    costCenters: readNamed('costCenters'),
    billingProfiles: readNamed('billingProfiles'),
    travelPolicies: readNamed('travelPolicies'),
    scimUserMappings: () => readMappings(readAll, profile, known),
  };
}

/** The largest number of rows of scimUserMapping: each may be a rule, or a finding about each person. */
const MAX_MAPPINGS = 1_000;

async function readMappings(
  readAll: ReadCollection,
  { lookups: { mappings } }: TravelProfile,
  { values }: KnownLookups,
): Promise<TravelAnswer<ScimUserMapping[]>> {
  if (!mappings) return { kind: 'ok', value: [] };
  const part = 'scimUserMappings';
  const answer = await readAll({ ...mappings, part, known: values[part] });
  if (answer.kind !== 'ok' || answer.value.length <= MAX_MAPPINGS) return answer;
  return { kind: 'unavailable', text: `GET ${mappings.path}: more than ${MAX_MAPPINGS} rows` };
}

/** Reads the custom fields of users, with the options of those that are not texts. */
async function readCustomFields(
  readAll: ReadCollection,
  { paths, lookups: { readCustomField: read, options } }: TravelProfile,
  { values: { customFields: known = [] } }: KnownLookups,
): Promise<TravelAnswer<CustomField[]>> {
  const common = { part: 'customFields', budget: newSizeBudget() } as const;
  const fields = await readAll({ ...common, path: paths.customFields, read, known });
  if (fields.kind !== 'ok' || !options) return fields;
  const withOptions = async (field: CustomField): Promise<TravelAnswer<CustomField>> => {
    if (field.dataType === 'text') return { kind: 'ok', value: field };
    const path = options.path.replace('{id}', encodeURIComponent(field.id));
    const before = known.find(({ id }) => id === field.id)?.options;
    const answer = await readAll({ ...common, path, read: options.read, known: before });
    return answer.kind === 'ok' ? { kind: 'ok', value: { ...field, options: answer.value } } : answer;
  };
  const value: CustomField[] = [];
  for (const answer of await Promise.all(fields.value.map(withOptions))) {
    if (answer.kind !== 'ok') return answer;
    value.push(answer.value);
  }
  return { kind: 'ok', value };
}
