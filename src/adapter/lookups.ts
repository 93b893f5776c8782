import type { Log } from '../provisioning/runtime-ports.ts';
import type { TravelAnswer, TravelFailure, TravelLookups } from '../provisioning/travel-ports.ts';
import type { CustomField, Lookups, NamedResource, ScimUserMapping } from '../translator/translation.ts';
import type { TravelUser } from '../translator/traveler.ts';
import { ofCollection, record, text, texts } from './answers.ts';
import type { TravelClient, TravelPaths } from './client.ts';
import { all } from './collection.ts';
import { readTravelUser } from './users.ts';

const FRESH_MS = 60_000;
/** A refresh on demand answers what was read this recently: a batch of people with an unknown cost center is one reading. */
const MOMENTS_MS = 3_000;
/** After a reading that failed: long enough not to hammer, short enough that nobody waits long once the API is back. */
const FAILED_MS = 1_000;
/** After one that failed in part, while older values serve. */
const PARTIAL_MS = 5_000;
/** No longer is heeded of what the travel API asks for. */
const LONGEST_ASKED_MS = 60_000;

/** Where lookups come from, and how long they serve. */
export interface LookupSettings {
  client: TravelClient;
  paths: TravelPaths;
  now(): number;
  log: Pick<Log, 'warn' | 'error'>;
  /** Named in the log. */
  connection?: string;
  freshMs?: number;
}

/** The lookups of one connection, with what an operator must know about them. */
export interface CachedLookups extends TravelLookups {
  /** The parts of which an older reading serves, because the last one failed. */
  stale(): (keyof Lookups)[];
}

interface Reading {
  /**
   * How often the lookups had been expired when it began: a change since then may be missing in it. Undefined: it waits
   * for the one before, and what changes until that ends will be in it.
   */
  epoch: number | undefined;
  answer: Promise<TravelAnswer<Lookups>>;
  /** When it ended, and how long it serves from then on; undefined while it runs. */
  ended: { at: number; serves: Record<Question, number> } | undefined;
}

type Question = 'current' | 'refresh';

/**
 * Reads the lookups when they are asked for; callers who ask at the same time share one reading. At most one runs and one
 * waits for it, however often something changes meanwhile.
 */
export function travelLookups(settings: LookupSettings): CachedLookups {
  const { client, paths, now } = settings;
  let epoch = 0;
  let last: Reading | undefined;
  const stale: Stale = new Map();
  const read = reader({ parts: lookupParts(tolerant(settings, stale), paths), stale }, settings, () => epoch);
  const serves = (reading: Reading, question: Question) =>
    reading.epoch === undefined || (reading.epoch === epoch && !hasRunOut(reading, question, now()));
  const ask = (question: Question): Promise<TravelAnswer<Lookups>> => {
    if (!last || !serves(last, question)) last = read(last);
    return last.answer;
  };
  return {
    current: () => ask('current'),
    refresh: () => ask('refresh'),
    expire: () => {
      epoch += 1;
    },
    readOwnUser: remembered(client, paths.whoami),
    stale: () => [...new Set(stale.values())].sort(),
  };
}

function hasRunOut({ ended }: Reading, question: Question, now: number): boolean {
  return ended !== undefined && now - ended.at >= ended.serves[question];
}

/** The parts of which an older reading serves, by the path that could not be read, or by their own name. */
type Stale = Map<string, keyof Lookups>;

/**
 * Reads collections that the credential may lose. One that is forbidden (403) and was never read counts as empty: this
 * travel account does not use it. One that was read before serves as it was last read, with an alarm.
 */
function tolerant({ client, log, connection }: LookupSettings, stale: Stale): ReadAll {
  const last = new Map<string, unknown[]>();
  const forbidden = new Set<string>();
  return async <T>(part: keyof Lookups, path: string, read: (item: unknown) => T | undefined) => {
    const answer = await all(client, path, read);
    if (answer.kind === 'ok') {
      last.set(path, answer.value);
      stale.delete(path);
      forbidden.delete(path);
    }
    if (answer.kind !== 'forbidden') return answer;
    // A path always has the same reader.
    const before = last.get(path) as T[] | undefined;
    if (before) stale.set(path, part);
    if (!forbidden.has(path)) tellForbidden(log, { connection, part, path, wasRead: before !== undefined });
    forbidden.add(path);
    return { kind: 'ok', value: before ?? [] };
  };
}

function tellForbidden(
  log: LookupSettings['log'],
  { wasRead, ...fields }: { connection: string | undefined; part: string; path: string; wasRead: boolean },
): void {
  if (wasRead)
    log.error(
      fields,
      'the travel API no longer allows to read this (403): its last reading serves; check what the travel credential may do',
    );
  else
    log.warn(
      fields,
      'the travel API does not allow to read this (403): it counts as empty; check what the travel credential may do',
    );
}

/** Begins a reading after the one before has ended, whose older values must not replace newer ones. */
function reader(
  { parts, stale }: { parts: LookupParts; stale: Stale },
  { now, log, freshMs = FRESH_MS }: Pick<LookupSettings, 'now' | 'log' | 'freshMs'>,
  presentEpoch: () => number,
): (before: Reading | undefined) => Reading {
  const kept: Partial<Lookups> = {};
  return (before) => {
    const waitsFor = before?.ended ? undefined : before;
    const carryOut = async (): Promise<TravelAnswer<Lookups>> => {
      if (waitsFor) {
        await waitsFor.answer;
        reading.epoch = presentEpoch();
      }
      const failure = await readParts(parts, kept, { stale, log });
      const value = complete(kept);
      const asked = failure === undefined ? 0 : askedBy(failure);
      const own = failure === undefined ? freshMs : value ? PARTIAL_MS : FAILED_MS;
      const current = Math.max(own, asked);
      reading.ended = {
        at: now(),
        serves: { current, refresh: Math.min(current, Math.max(MOMENTS_MS, asked)) },
      };
      return value ? { kind: 'ok', value } : (failure ?? { kind: 'unavailable', text: 'nothing was read' });
    };
    const epoch = waitsFor ? undefined : presentEpoch();
    const reading: Reading = { epoch, answer: carryOut(), ended: undefined };
    return reading;
  };
}

/** How long the travel API asks to be left alone, up to a minute. */
function askedBy(failure: TravelFailure): number {
  return failure.kind === 'unavailable' ? Math.min(LONGEST_ASKED_MS, failure.retryAfterMs ?? 0) : 0;
}

/** Reads all parts into `kept`; one that cannot be read keeps its last read value. Answers the first failure. */
async function readParts(
  parts: LookupParts,
  kept: Partial<Lookups>,
  { stale, log }: { stale: Stale; log: Pick<Log, 'warn'> },
): Promise<TravelFailure | undefined> {
  const read = async <Part extends keyof Lookups>(part: Part): Promise<TravelFailure | undefined> => {
    const answer = await parts[part]();
    if (answer.kind === 'ok') {
      kept[part] = answer.value;
      stale.delete(part);
      return undefined;
    }
    if (kept[part] !== undefined) stale.set(part, part);
    const failure = answer.kind === 'unavailable' ? answer.text : answer.kind;
    log.warn({ part, failure, stale: kept[part] !== undefined }, 'a part of the lookups could not be read');
    return answer;
  };
  const failures = await Promise.all([
    read('customFields'),
    read('costCenters'),
    read('billingProfiles'),
    read('travelPolicies'),
    read('scimUserMappings'),
  ]);
  return failures.find((failure) => failure !== undefined);
}

function complete(kept: Partial<Lookups>): Lookups | undefined {
  const { customFields, costCenters, billingProfiles, travelPolicies, scimUserMappings } = kept;
  if (!customFields || !costCenters || !billingProfiles || !travelPolicies || !scimUserMappings)
    return undefined;
  return { customFields, costCenters, billingProfiles, travelPolicies, scimUserMappings };
}

/** Who the credential belongs to cannot change while it is used, so it is asked until it is known. */
function remembered(client: TravelClient, path: string): () => Promise<TravelAnswer<TravelUser>> {
  let asked: Promise<TravelAnswer<TravelUser>> | undefined;
  const ask = async () => {
    const answer = await client.call({ method: 'GET', path }, ({ data }) => readTravelUser(data));
    if (answer.kind !== 'ok') asked = undefined;
    return ofCollection(`GET ${path}`, answer);
  };
  return () => {
    asked ??= ask();
    return asked;
  };
}

/** How each part of the lookups is read from the travel API. */
export type LookupParts = { [Part in keyof Lookups]: () => Promise<TravelAnswer<Lookups[Part]>> };

/** Reads a whole collection, which belongs to a part of the lookups. */
export type ReadAll = <T>(
  part: keyof Lookups,
  path: string,
  read: (item: unknown) => T | undefined,
) => Promise<TravelAnswer<T[]>>;

/** The readings of one travel account. */
export function lookupParts(readAll: ReadAll, paths: TravelPaths): LookupParts {
  return {
    customFields: () => readCustomFields(readAll, paths),
    costCenters: () => readAll('costCenters', paths.costCenters, readNamed),
    billingProfiles: () => readAll('billingProfiles', paths.billingProfiles, readNamed),
    travelPolicies: () => readAll('travelPolicies', paths.travelPolicies, readNamed),
    scimUserMappings: () => readAll('scimUserMappings', paths.scimUserMappings, readMapping),
  };
}

/** Those of users only, with the options of those that have any. */
async function readCustomFields(readAll: ReadAll, paths: TravelPaths): Promise<TravelAnswer<CustomField[]>> {
  const fields = await readAll('customFields', paths.customFields, readCustomField);
  if (fields.kind !== 'ok') return fields;
  const answers = await Promise.all(fields.value.map((field) => withOptions(readAll, paths, field)));
  const value: CustomField[] = [];
  for (const answer of answers) {
    if (answer.kind !== 'ok') return answer;
    value.push(answer.value);
  }
  return { kind: 'ok', value };
}

async function withOptions(
  readAll: ReadAll,
  paths: TravelPaths,
  field: CustomField,
): Promise<TravelAnswer<CustomField>> {
  if (field.dataType === 'text') return { kind: 'ok', value: field };
  const path = paths.customFieldOptions.replace('{id}', encodeURIComponent(field.id));
  const options = await readAll('customFields', path, readOption);
  return options.kind === 'ok' ? { kind: 'ok', value: { ...field, options: options.value } } : options;
}

function readCustomField(value: unknown): CustomField | undefined {
  const source = record(value);
  const { id, name, dataType, validationRegexp } = members(source, [
    'id',
    'name',
    'dataType',
    'validationRegexp',
  ]);
  if (id === undefined || name === undefined || dataType === undefined) return undefined;
  if (source?.resourceType !== undefined && source.resourceType !== 'user') return undefined;
  const pattern = validationRegexp === undefined ? {} : { validationRegexp };
  return { id, name, dataType, disabled: source?.disabled === true, ...pattern, options: [] };
}

function readOption(value: unknown): CustomField['options'][number] | undefined {
  const source = record(value);
  const { id, data } = members(source, ['id', 'data']);
  if (id === undefined || data === undefined) return undefined;
  return { id, data, disabled: source?.disabled === true };
}

function readNamed(value: unknown): NamedResource | undefined {
  const source = record(value);
  const { id, name } = members(source, ['id', 'name']);
  if (id === undefined || name === undefined) return undefined;
  return { id, name, archived: source?.archived === true };
}

function readMapping(value: unknown): ScimUserMapping | undefined {
  const source = record(value);
  const scimAttribute = text(source?.scimAttribute);
  if (scimAttribute === undefined) return undefined;
  return { scimAttribute, ...members(source, ['customFieldId', 'userAttribute']) };
}

function members<Name extends string>(
  source: Record<string, unknown> | undefined,
  names: readonly Name[],
): { [N in Name]?: string } {
  return source ? texts(source, names) : {};
}
