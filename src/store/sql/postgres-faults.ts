import { types } from 'node:util';
import { StoreUnavailable } from '../../model/unavailable.ts';

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
      : [message, remedyFor(code, message)];
  return `The database ${displayUrl(url)} cannot be used: ${problem.replace(/\.$/, '')}. ${remedy}`;
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

const FILES = 'Correct sslrootcert, sslcert and sslkey in DATABASE_URL, and let Jetbridge read the files.';

const unknownAuthority = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
];
const AUTHORITY =
  'Give the file with the certificate of its authority, e.g. sslmode=verify-full&sslrootcert=/path/ca.pem in DATABASE_URL; sslmode=no-verify encrypts without a check.';

/** The remedy for each error code, or part of a message with several words. The first one that matches is shown. */
const remedies: [codeOrPart: string, remedy: string][] = [
  ['WRONG_ENCODING', 'Create it with the encoding UTF8, or correct DATABASE_URL.'],
  ['28P01', 'Correct the user and the password in DATABASE_URL.'],
  ['28000', 'Let the server accept this user, or correct DATABASE_URL.'],
  ['3D000', 'Create the database, or correct DATABASE_URL.'],
  ['is not currently accepting connections', 'Let the database accept connections, or correct DATABASE_URL.'],
  ['42P07', 'Point DATABASE_URL at an empty database.'],
  [
    'permission denied for schema',
    'Give the user the right to create tables in the schema, or let it own the database.',
  ],
  [
    'permission denied for database',
    'Give the user the right to connect to the database, or correct DATABASE_URL.',
  ],
  ['42501', 'Let DATABASE_URL name the user that owns the tables, or give this one all rights on them.'],
  ['25006', 'Let DATABASE_URL lead to the primary server.'],
  ['53100', 'Make room on the disk of its server.'],
  ['53300', 'Raise max_connections of the server, or lower DATABASE_CONNECTIONS.'],
  ['57014', 'Try again.'],
  ['57P03', 'Wait until the server has started.'],
  [
    'does not support SSL',
    'Turn TLS on at the server, or give sslmode=disable in DATABASE_URL if the network itself is safe.',
  ],
  [
    'error establishing an SSL connection',
    'Let host and port in DATABASE_URL be those of a PostgreSQL server with TLS.',
  ],
  ...unknownAuthority.map((code): [string, string] => [code, AUTHORITY]),
  ['CERT_HAS_EXPIRED', 'Renew the certificate of the server.'],
  ['CERT_NOT_YET_VALID', 'Correct the clock of this machine, or renew the certificate of the server.'],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'Give the host in DATABASE_URL by a name that the certificate of the server has.',
  ],
  [", open '", FILES],
  ['EISDIR', FILES],
];

function remedyFor(code: string, message: string): string {
  const isAbout = (codeOrPart: string) =>
    code === codeOrPart || (codeOrPart.includes(' ') && message.includes(codeOrPart));
  const found = remedies.find(([codeOrPart]) => isAbout(codeOrPart));
  return found?.[1] ?? 'Start its server, or correct DATABASE_URL.';
}
