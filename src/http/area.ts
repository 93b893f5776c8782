const areas = ['scim', 'oauth', 'api', 'admin', 'healthz', 'readyz', 'metrics'] as const;

/** The part of the service that a path belongs to; a closed list, so that strangers cannot grow the metrics. */
export function areaOf(path: string): string {
  const first = path.split('/')[1] ?? '';
  return areas.find((area) => area === first) ?? 'other';
}

/** A path for the log: what may be personal data, such as an address in place of an id, is struck out. */
export function struckPath(path: string): string {
  const segments = path.slice(0, 500).split('/');
  return segments.map((segment) => (/^[\w.:-]{0,64}$/.test(segment) ? segment : '*')).join('/');
}
