import { resolve } from 'node:path';
import type { ConnectionSettings, Settings } from '../config/settings.ts';
import { displayLocation } from '../store/sql/open-database.ts';

/** The secrets that this start has created. They are stored as hashes only, so the banner is the one place that shows them. */
export interface CreatedSecrets {
  scimToken: string | undefined;
  travelApiKey: string | undefined;
  /** Of the account `admin` of the admin page. */
  adminPassword: string | undefined;
}

type ShownSettings = Pick<Settings, 'connections' | 'data' | 'postgres' | 'publicUrl' | 'passwordSignIn'>;

/** The text that `serve` prints when it listens at `url`: the addresses, the credentials, where the data is, and a next step. */
export function bannerText(settings: ShownSettings, url: string, created: CreatedSecrets): string {
  const publicUrl = settings.publicUrl?.replace(/\/+$/, '') ?? url;
  const rows: [string, string][] = [
    ['SCIM base URL', `${publicUrl}/scim/v2`],
    ['SCIM token', created.scimToken ?? tokenText(settings.connections)],
    ...travelRows(settings.connections, publicUrl, created.travelApiKey),
    ['admin page', `${publicUrl}/admin`],
    ...adminRows(created.adminPassword, settings),
    settings.postgres ? ['database', displayLocation(settings)] : ['data folder', resolve(settings.data)],
    ['next step', '"npx jetbridge doctor" tries all of it; README.md shows how to provision a first person'],
  ];
  return [
    `Jetbridge serves on ${url}`,
    ...rows.map(([name, value]) => `  ${name.padEnd(15)} ${value}`),
    ...secretsLines(created),
  ].join('\n');
}

/** Says that the secrets are shown once, and how each is replaced. */
function secretsLines({ scimToken, travelApiKey, adminPassword }: CreatedSecrets): string[] {
  const commands = [
    ...(scimToken === undefined ? [] : ['"npx jetbridge tokens create"']),
    ...(travelApiKey === undefined ? [] : ['"npx jetbridge api-keys create --user EMAIL"']),
    ...(adminPassword === undefined ? [] : ['"npx jetbridge admins reset admin"']),
  ];
  if (commands.length === 0) return [];
  return [
    'Keep these secrets: they were made at this first start and are shown only now.',
    `If one is lost: ${commands.join(', ')}.`,
  ];
}

function adminRows(
  password: string | undefined,
  { passwordSignIn }: Pick<Settings, 'passwordSignIn'>,
): [string, string][] {
  if (password === undefined) return [];
  const note = passwordSignIn ? '' : ', once adminPage.passwordSignIn is removed from the settings';
  return [['sign in with', `admin, password ${password}${note}`]];
}

function tokenText(connections: ConnectionSettings[]): string {
  const create = `npx jetbridge tokens create${connections.length > 1 ? ' --connection NAME' : ''}`;
  const isSet = connections.some(({ scimToken }) => scimToken !== undefined);
  return `${isSet ? 'as set in the environment' : 'as before'}; "${create}" makes another`;
}

function travelRows(
  connections: ConnectionSettings[],
  publicUrl: string,
  createdKey: string | undefined,
): [string, string][] {
  const urls = [...new Set(connections.map(({ travelApi }) => travelApi.url))];
  return urls.flatMap((url): [string, string][] => {
    const sharers = connections.filter(({ travelApi }) => travelApi.url === url);
    if (url === 'embedded') return embeddedRows(sharers, publicUrl, createdKey);
    const names = sharers.map(({ id }) => id).join(', ');
    return [['travel API', connections.length > 1 ? `${url} (${names})` : url]];
  });
}

function embeddedRows(
  connections: ConnectionSettings[],
  publicUrl: string,
  createdKey: string | undefined,
): [string, string][] {
  const isSet = connections.some(({ travelApi }) => travelApi.key !== undefined);
  const known = isSet ? 'as set in the environment' : 'as before';
  return [
    ['travel service', `${publicUrl}/api, described at ${publicUrl}/api/docs`],
    ['travel API key', createdKey ?? `${known}; "npx jetbridge api-keys create --user EMAIL" makes another`],
  ];
}
