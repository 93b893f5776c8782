import { types } from 'node:util';
import { StoreUnavailable } from './unavailable.ts';

/** The database cannot be used as it is. The message is one line for the operator, without the password. */
export class DatabaseFault extends Error {
  constructor(url: string, error: unknown) {
    const cause = error instanceof StoreUnavailable ? error.cause : error;
    super(faultText(url, cause), { cause });
    this.name = 'DatabaseFault';
  }
}

/** The URL without the password and the parameters, for messages. */
export function displayUrl(url: string): string {
  if (!URL.canParse(url)) return 'DATABASE_URL';
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username}${username && '@'}${host}${pathname}`;
}

function faultText(url: string, cause: unknown): string {
  const code = types.isNativeError(cause) && 'code' in cause ? String(cause.code) : '';
  const message = types.isNativeError(cause) ? cause.message || code : String(cause);
  const asksForPassword = code === '28P01' || message.includes('client password must be');
  const [problem, remedy] =
    asksForPassword && !hasPassword(url)
      ? ['the server asks for a password, and DATABASE_URL has none', `Give e.g. ${urlWithPassword(url)}.`]
      : [message, remedies[code] ?? REMEDY];
  return `The database ${displayUrl(url)} cannot be used: ${problem}. ${remedy}`;
}

function hasPassword(url: string): boolean {
  if (!URL.canParse(url)) return /:\/\/[^/@]*:[^/@]+@|[?&]password=./.test(url);
  const { password, searchParams } = new URL(url);
  return password !== '' || Boolean(searchParams.get('password'));
}

/** The URL with the word `password` in the place of one. */
function urlWithPassword(url: string): string {
  if (!URL.canParse(url)) return 'postgres://user:password@host:5432/database';
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username || 'user'}:password@${host}${pathname}`;
}

const REMEDY = 'Start its server, or correct DATABASE_URL.';

const remedies: Record<string, string> = {
  WRONG_ENCODING: 'Create it with the encoding UTF8, or correct DATABASE_URL.',
  '28P01': 'Correct the user and the password in DATABASE_URL.',
  '28000': 'Let the server accept this user, or correct DATABASE_URL.',
  '3D000': 'Create the database, or correct DATABASE_URL.',
  '42P07': 'Point DATABASE_URL at an empty database.',
  '42501': 'Give the user the right to create tables in the schema, or let it own the database.',
  '25006': 'Let DATABASE_URL lead to the primary server.',
  '53100': 'Make room on the disk of its server.',
  '53300': 'Raise max_connections of the server, or lower DATABASE_CONNECTIONS.',
  '57014': 'Try again.',
  '57P03': 'Wait until the server has started.',
};
