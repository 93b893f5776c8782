const areas = ['scim', 'oauth', 'api', 'admin', 'healthz', 'readyz', 'metrics'] as const;

/** The part of the service that a path belongs to; a closed list, so that strangers cannot grow the metrics. */
export function areaOf(path: string): string {
  const first = path.split('/')[1] ?? '';
  return areas.find((area) => area === first) ?? 'other';
}

/** The segments of all paths that are served. */
const segments = new Set<string>([
  ...areas,
  ...['v2', 'users', 'groups', '.search', 'schemas', 'resourcetypes', 'serviceproviderconfig', 'bulk', 'me'],
  ...['token', 'whoami', 'openapi.json', 'docs', 'billing-profiles', 'cost-centers', 'project-codes'],
  ...['custom-fields', 'options', 'travel-policies', 'scim-user-mappings', 'trip-projects'],
  ...['billing-operations', 'invoices', 'refunds', 'disputes', 'events'],
  ...['webhooks', 'deliveries', 'secret', 'test', 'redeliver'],
]);

/** The query parameters that are read anywhere. */
const parameters = new Set<string>([
  ...['attributes', 'excludedAttributes', 'filter', 'sortBy', 'sortOrder', 'startIndex', 'count', 'cursor'],
  ...['pageKind', 'limit', 'offset', 'after', 'before', 'order', 'archived', 'emails', 'status', 'require'],
]);

const STRUCK = '*';

/**
 * A path for the log. Segments that no endpoint has are struck out, as a client may write anything there; if the request
 * found what it asked for, ids are shown, as they are those of resources.
 */
export function struckPath(path: string, isFound: boolean): string {
  const isShown = (segment: string) =>
    segment === '' || segments.has(segment.toLowerCase()) || (isFound && /^[\w.:-]{1,64}$/.test(segment));
  const shown = path.slice(0, LONGEST_PATH).split('/');
  return shown.map((segment) => (isShown(segment) ? segment : STRUCK)).join('/');
}

const LONGEST_PATH = 500;

/** Names of query parameters for the log, each once; all that are not known are one asterisk. */
export function struckNames(names: string[]): string[] {
  return [...new Set(names.map((name) => (parameters.has(name) ? name : STRUCK)))];
}
