import type { CustomField, NamedResource, ScimUserMapping } from '../../model/translation.ts';
import type { FeedEvent, FeedPage, InvalidField } from '../../model/travel-ports.ts';
import type { TravelUser } from '../../model/traveler.ts';
import { asArray, asObject, asString, type JsonRecord, readItems, readStrings } from '../json.ts';
import {
  type ErrorForm,
  type PageContent,
  type PageStart,
  type ProfileSettings,
  pathsOf,
  type TravelProfile,
} from '../profile.ts';
import { toTravelUser } from '../traveler.ts';

/** The paths of the embedded travel service; the specification fixes only those of whoami and users. */
const defaultPaths = {
  whoami: '/api/whoami',
  users: '/api/users',
  events: '/api/events',
  customFields: '/api/custom-fields',
  customFieldOptions: '/api/custom-fields/{id}/options',
  costCenters: '/api/cost-centers',
  billingProfiles: '/api/billing-profiles',
  travelPolicies: '/api/travel-policies',
  scimUserMappings: '/api/scim-user-mappings',
};

/** The media types of merge patches: that of the specification's examples, and that of RFC 7396. */
const mediaTypes = ['application/json', 'application/merge-patch+json'] as const;

/** The travel API of the specification, which the embedded travel service serves. The bridge has its names for fields. */
export function jetbridgeProfile(settings: ProfileSettings): TravelProfile {
  const { events, customFieldOptions, scimUserMappings, ...paths } = pathsOf(defaultPaths, settings);
  return {
    paths,
    unwrap: ({ data }) => data,
    wrap: (data) => ({ data }),
    readId,
    pages: {
      query: (limit, start) => ({ limit, ...(start && { offset: start.offset }) }),
      read: readPage,
    },
    travelers: {
      read: readTraveler,
      emailQuery: (emails) => ({ emails: emails.join(',') }),
      toResource: (change) => change,
      update: { method: 'PATCH', mediaTypes },
      idempotencyHeader: 'Idempotency-Key',
    },
    errors: { isOwn: hasErrorCode, readInvalidFields },
    lookups: {
      readCustomField,
      options: { path: customFieldOptions, read: readOption },
      readNamed,
      mappings: { path: scimUserMappings, read: readMapping },
    },
    feed: {
      path: events,
      query: (limit, after) => ({
        ...{ pageKind: 'cursor', order: 'desc', limit },
        ...(after === undefined ? {} : { after }),
      }),
      read: readFeedPage,
    },
  };
}

function readId(item: unknown): string | undefined {
  const id = asString(asObject(item)?.id);
  return id === '' ? undefined : id;
}

/** Reads a page by offset (specification, "Pagination"). */
function readPage(
  { data, meta }: JsonRecord,
  limit: number,
  { offset }: PageStart = { offset: 0 },
): PageContent | undefined {
  if (!Array.isArray(data)) return undefined;
  const { total, limit: ownLimit } = asObject(meta) ?? {};
  // A travel API with a lower page limit names it in `meta.limit`.
  const isFull = data.length >= Math.min(limit, isCount(ownLimit) && ownLimit > 0 ? ownLimit : Infinity);
  const isEnd = isCount(total) ? offset + data.length >= total : !isFull;
  return {
    items: data,
    total: isCount(total) ? total : undefined,
    isLast: data.length === 0 || isEnd,
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

const readOnlyMembers = new Set([
  ...['id', 'type', 'url', 'createdAt', 'createdBy', 'updatedAt', 'updatedBy', 'archivedAt'],
]);

function readTraveler(item: unknown): TravelUser | undefined {
  const source = asObject(item);
  return source && toTravelUser(source, readOnlyMembers);
}

/** A 404 counts only with the code `notFound`: gateways have codes of their own. A 403 counts with any code. */
const hasErrorCode: ErrorForm['isOwn'] = (status, body) =>
  status === 404 ? body?.code === 'notFound' : typeof body?.code === 'string';

function readInvalidFields({ invalid }: JsonRecord): InvalidField[] {
  return asArray(invalid).flatMap((item) => {
    const {
      field,
      code = 'invalid',
      message = code,
    } = readStrings(asObject(item), ['field', 'code', 'message']);
    return field === undefined ? [] : [{ field, code, message }];
  });
}

function readCustomField(item: unknown): CustomField | undefined {
  const source = asObject(item);
  const names = ['id', 'name', 'dataType', 'validationRegexp'] as const;
  const { id, name, dataType, validationRegexp } = readStrings(source, names);
  if (id === undefined || name === undefined || dataType === undefined) return undefined;
  if (source?.resourceType !== undefined && source.resourceType !== 'user') return undefined;
  const pattern = validationRegexp === undefined ? {} : { validationRegexp };
  return { id, name, dataType, disabled: source?.disabled === true, ...pattern, options: [] };
}

function readOption(item: unknown): CustomField['options'][number] | undefined {
  const source = asObject(item);
  const { id, data } = readStrings(source, ['id', 'data']);
  if (id === undefined || data === undefined) return undefined;
  return { id, data, disabled: source?.disabled === true };
}

function readNamed(item: unknown): NamedResource | undefined {
  const source = asObject(item);
  const { id, name } = readStrings(source, ['id', 'name']);
  if (id === undefined || name === undefined) return undefined;
  return { id, name, archived: source?.archived === true };
}

function readMapping(item: unknown): ScimUserMapping | undefined {
  const source = asObject(item);
  const { scimAttribute, ...target } = readStrings(source, [
    'scimAttribute',
    'customFieldId',
    'userAttribute',
  ]);
  return scimAttribute === undefined ? undefined : { scimAttribute, ...target };
}

/** Reads a page of events by cursor; `none` if the travel API ignored the requested kind of page or order. */
function readFeedPage({ data, meta }: JsonRecord): FeedPage | 'none' {
  const { pageKind, order, nextAfter } = asObject(meta) ?? {};
  if (!Array.isArray(data) || pageKind !== 'cursor' || order !== 'desc') return 'none';
  const events = readItems(data, readEvent);
  if (events.length < data.length) return 'none';
  return { events, next: asString(nextAfter) };
}

function readEvent(value: unknown): FeedEvent | undefined {
  const source = asObject(value);
  const { id, kind } = readStrings(source, ['id', 'kind']);
  if (!source || id === undefined || kind === undefined) return undefined;
  return {
    id,
    kind,
    traveler: kind.startsWith('user.') ? readTraveler(source.data) : undefined,
    previousEmail: asString(asObject(source.previousAttributes)?.email),
  };
}
