import { relative } from 'node:path';
import { weaknessOf } from './weak-secret.ts';

/** One fault of the settings: file (or environment), place in it, what is wrong, what would be right. */
export interface Fault {
  file: string;
  path: string;
  problem: string;
  remedy: string;
}

/** The settings cannot be used; nothing was started. */
export class SettingsFault extends Error {
  constructor(faults: Fault[]) {
    super(faults.map(faultLine).join('\n'));
    this.name = 'SettingsFault';
  }
}

/** One line for one fault, whatever the values in it look like. */
function faultLine({ file, path, problem, remedy }: Fault): string {
  return `${file} ${path}: ${problem}. ${remedy}`.replace(/\s+/g, ' ');
}

/** A path as the admin knows it: relative when below the present folder. */
export function shownPath(file: string): string {
  const near = relative(process.cwd(), file);
  return near.startsWith('..') ? file : near;
}

/** What a connection shows who it is by, and where that comes from. */
export interface Credentials {
  id: string;
  /** Where in the settings file the connection stands. */
  place: { file: string; path: string };
  /** The variable of the SCIM token; undefined when the connection has only those that were made for it. */
  tokenEnv: string | undefined;
  scimToken: string | undefined;
  /** The variable of the travel credential. */
  keyEnv: string;
  api: { url: string; key: string | undefined; paths: object };
}

/** Shorter ones could be guessed. */
const SHORTEST = 16;

/** What is wrong with the credentials in the environment, and with where they are to be used. */
export function credentialFaults(connections: Credentials[]): Fault[] {
  return [
    ...connections.flatMap(tokenFaults),
    ...connections.flatMap(apiFaults),
    ...connections.flatMap((one, index) => sharedToken(one, connections.slice(0, index))),
  ];
}

function tokenFaults({ id, scimToken, tokenEnv, place }: Credentials): Fault[] {
  if (tokenEnv === undefined) return [];
  if (scimToken !== undefined) return secretFaults(tokenEnv, scimToken);
  // The first start makes one.
  if (tokenEnv === 'SCIM_TOKEN' && id === 'default') return [];
  const remedy = `Set it, or remove scimTokenEnv and use "jetbridge tokens create --connection ${id}".`;
  return [unset(place, 'scimTokenEnv', tokenEnv, remedy)];
}

function apiFaults({ api: { url, key, paths }, keyEnv, place }: Credentials): Fault[] {
  if (url === 'embedded') return key === undefined ? [] : secretFaults(keyEnv, key);
  if (key === undefined)
    return [unset(place, 'travelApi.keyEnv', keyEnv, 'Set it to the credential of the travel API.')];
  const hasDoubledPath = /\/api\/*$/.test(url) && Object.keys(paths).length === 0;
  if (!hasDoubledPath) return [];
  const remedy = `Leave /api out, as the paths begin with it: ${url.replace(/\/api\/*$/, '')}.`;
  return [
    {
      file: place.file,
      path: `${place.path}.travelApi.url`,
      problem: `is ${url}, with /api at the end`,
      remedy,
    },
  ];
}

/** What a header of the form `Bearer …` can carry (RFC 6750 §2.1), and nobody guesses. */
function secretFaults(name: string, value: string): Fault[] {
  const at = { file: 'environment', path: name };
  const remedy = 'Give one as "openssl rand -hex 32" prints it.';
  if (value.length < SHORTEST) return [{ ...at, problem: `has less than ${SHORTEST} characters`, remedy }];
  if (!/^[\w.~+/-]+=*$/.test(value))
    return [{ ...at, problem: 'has characters that a bearer token cannot have', remedy }];
  const weakness = weaknessOf(value);
  return weakness === undefined ? [] : [{ ...at, problem: `${weakness}, so it could be guessed`, remedy }];
}

/** The token alone selects the connection (docs/architecture.md, Connections). */
function sharedToken({ scimToken, tokenEnv, place }: Credentials, others: Credentials[]): Fault[] {
  const other = others.find((one) => scimToken !== undefined && one.scimToken === scimToken);
  if (!other) return [];
  return [
    {
      file: place.file,
      path: place.path,
      problem: `has the same token (${tokenEnv}) as connections.${other.id}`,
      remedy: 'Give each connection a token of its own: it tells them apart.',
    },
  ];
}

function unset(place: Credentials['place'], key: string, name: string, remedy: string): Fault {
  return {
    file: place.file,
    path: `${place.path}.${key}`,
    problem: `names ${name}, which is not set`,
    remedy,
  };
}
