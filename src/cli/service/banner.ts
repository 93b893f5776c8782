import { resolve } from 'node:path';
import type { ConnectionSettings, Settings } from '../../config/settings.ts';
import { displayLocation } from '../../store/sql/open-database.ts';

/** The secrets that this start has created. They are stored as hashes only, so the banner is the one place that shows them. */
export interface CreatedSecrets {
  scimToken: string | undefined;
  travelApiKey: string | undefined;
  /** Of the account `admin` of the admin page. */
  adminPassword: string | undefined;
}

type ShownSettings = Pick<Settings, 'connections' | 'data' | 'postgres' | 'publicUrl'>;

/**
 * The text that `serve` prints when it listens at `url`: the addresses, where the data is, a next step, and last the secrets that this start
 * has created.
 */
export function bannerText(settings: ShownSettings, url: string, created: CreatedSecrets): string {
  const publicUrl = settings.publicUrl?.replace(/\/+$/, '') ?? url;
  const rows: Row[] = [
    ['SCIM base URL', `${publicUrl}/scim/v2`],
    ...(created.scimToken === undefined ? [tokenRow(settings.connections)] : []),
    ...travelRows(settings.connections, publicUrl, created),
    ['admin page', `${publicUrl}/admin`],
    ['documents', `${publicUrl}/docs`],
    settings.postgres ? ['database', displayLocation(settings)] : ['data folder', resolve(settings.data)],
    ['next step', '"npx jetbridge doctor" tries all of it; README.md shows how to provision a first person'],
  ];
  return [`Jetbridge serves on ${url}`, ...rows.map(rowText), ...secretsLines(created)].join('\n');
}

type Row = [name: string, value: string];

function rowText([name, value]: Row): string {
  return `  ${name.padEnd(15)} ${value}`;
}

/** The secrets that were created, each with its replacement. */
function secretsLines({ scimToken, travelApiKey, adminPassword }: CreatedSecrets): string[] {
  const secrets: [name: string, secret: string | undefined, replacement: string][] = [
    ['SCIM token', scimToken, `"${CREATE_TOKEN}" makes another`],
    ['travel API key', travelApiKey, `"${CREATE_KEY}" makes another`],
    [
      'sign in with',
      adminPassword && `admin, password ${adminPassword}`,
      'ADMIN_PASSWORD sets another at the next start',
    ],
  ];
  const lines = secrets.flatMap(([name, secret, replacement]) =>
    secret === undefined ? [] : [rowText([name, secret]), rowText(['', `if it is lost: ${replacement}`])],
  );
  if (lines.length === 0) return [];
  return ['', 'Keep these secrets: they were made at this first start and are shown only now.', ...lines];
}

const CREATE_TOKEN = 'npx jetbridge tokens create';
const CREATE_KEY = 'npx jetbridge api-keys create --user EMAIL';

function tokenRow(connections: ConnectionSettings[]): Row {
  const create = `${CREATE_TOKEN}${connections.length > 1 ? ' --connection NAME' : ''}`;
  const isSet = connections.some(({ scimToken }) => scimToken !== undefined);
  return ['SCIM token', `${isSet ? 'as set in the environment' : 'as before'}; "${create}" makes another`];
}

function travelRows(connections: ConnectionSettings[], publicUrl: string, created: CreatedSecrets): Row[] {
  const urls = [...new Set(connections.map(({ travelApi }) => travelApi.url))];
  return urls.flatMap((url): Row[] => {
    const sharers = connections.filter(({ travelApi }) => travelApi.url === url);
    if (url === 'embedded') return embeddedRows(sharers, publicUrl, created);
    const names = sharers.map(({ id }) => id).join(', ');
    return [['travel API', connections.length > 1 ? `${url} (${names})` : url]];
  });
}

function embeddedRows(
  connections: ConnectionSettings[],
  publicUrl: string,
  { travelApiKey }: CreatedSecrets,
): Row[] {
  const isSet = connections.some(({ travelApi }) => travelApi.key !== undefined);
  const known = isSet ? 'as set in the environment' : 'as before';
  const key: Row[] =
    travelApiKey === undefined ? [['travel API key', `${known}; "${CREATE_KEY}" makes another`]] : [];
  return [['travel service', `${publicUrl}/api, described at ${publicUrl}/api/docs`], ...key];
}
