import { z } from 'zod';
import { isLoopback } from '../http/proxies.ts';
import { nearest } from '../schema/similar-words.ts';
import { faultText } from '../translator/mapping/mapping-faults.ts';

/** The URL of a PostgreSQL database. Faults never contain a part of it, because a part may be of the password. */
export const databaseUrl = z.string().superRefine((text, context) => {
  const message = findFault(text);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

const EXAMPLE = 'Give e.g. postgres://jetbridge:password@db.example.com/jetbridge.';

function findFault(text: string): string | undefined {
  const [, afterScheme] = /^postgres(?:ql)?:\/\/(.*)$/s.exec(text) ?? [];
  if (afterScheme === undefined) return faultText('is no URL of a PostgreSQL database', EXAMPLE);
  if (hasUnencodedCharacter(afterScheme))
    return faultText(
      'has a special character that is not percent-encoded',
      'Percent-encode special characters of the password: @ as %40, / as %2F, # as %23, ? as %3F, % as %25.',
    );
  // The URL may have no host, if its parameter `host` names the folder of a socket.
  const url = text.replace('@/', '@localhost/');
  if (!URL.canParse(url)) return faultText('is no URL of a PostgreSQL database', EXAMPLE);
  // Otherwise `pg` would use the database that has the name of the user.
  const { pathname, searchParams } = new URL(url);
  if (/^\/*$/.test(pathname)) return faultText('names no database', EXAMPLE);
  return findTlsFault(searchParams);
}

/** `pg` takes every other value of `sslmode` for `verify-full`, and fails with a TypeError for other values of `ssl`. */
const modes = ['disable', 'no-verify', 'require', 'verify-ca', 'verify-full'];
const switches = ['true', '1', '0', 'no-verify'];
const MODES =
  'Give verify-full, or require or verify-ca, which are as strict; no-verify, which encrypts without a check; or disable.';

/** The modes `prefer` and `allow` of other programs may go on without encryption, which `pg` never does. */
function findTlsFault(parameters: URLSearchParams): string | undefined {
  const mode = parameters.getAll('sslmode').find((value) => !modes.includes(value));
  if (mode !== undefined) {
    const similar = nearest(mode, modes);
    const advice = similar === undefined ? MODES : `Did you mean ${similar}? ${MODES}`;
    return faultText(`has sslmode=${JSON.stringify(mode)}, which is not known`, advice);
  }
  const ssl = parameters.getAll('ssl').find((value) => !switches.includes(value));
  if (ssl === undefined) return undefined;
  return faultText(
    `has ssl=${JSON.stringify(ssl)}, which is not known`,
    `Give sslmode in its place. ${MODES}`,
  );
}

/** The warning about a database at another machine without TLS: the risk and the cure. */
export const UNENCRYPTED_DATABASE = {
  problem: 'DATABASE_URL leads to another machine without TLS: what is sent there can be read on the way',
  remedy:
    'Give sslmode=verify-full in DATABASE_URL, and sslrootcert for an authority of your own; no-verify encrypts without a check.',
};

/** True if a valid URL leads to another machine, and the connection is not encrypted. `pg` encrypts only where it is told to. */
export function isUnencrypted(text: string): boolean {
  const { hostname, searchParams } = new URL(text.replace('@/', '@localhost/'));
  const host = searchParams.get('host') ?? hostname;
  // A path names the folder of a socket.
  const isHere = host === '' || host.startsWith('/') || host === 'localhost';
  if (isHere || isLoopback(host.replace(/^\[|\]$/g, ''))) return false;
  const mode = searchParams.get('sslmode');
  if (mode !== null) return mode === 'disable';
  const hasFile = ['sslrootcert', 'sslcert', 'sslkey'].some((name) => searchParams.has(name));
  return !hasFile && ['0', null].includes(searchParams.get('ssl'));
}

/**
 * True if a character of the password must have been taken for the end of the password or of the host. The only `@` of a URL is before
 * its path, except in the values of parameters, and a URL of a database has no `#`.
 */
function hasUnencodedCharacter(afterScheme: string): boolean {
  const [address = '', ...rest] = afterScheme.split('?');
  const [authority = '', ...path] = address.split('/');
  return (
    afterScheme.includes('#') ||
    authority.split('@').length > 2 ||
    path.join('/').includes('@') ||
    /^[^=]*@/.test(rest.join('?')) ||
    !canDecode(afterScheme)
  );
}

function canDecode(text: string): boolean {
  try {
    // The bundler removes a call whose result is not used, although it can throw.
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}
