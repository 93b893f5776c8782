import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

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
export function displayPath(file: string): string {
  const near = relative(process.cwd(), file);
  return near.startsWith('..') ? file : near;
}

/** What a connection shows who it is by, and where that comes from. */
export interface ConnectionCredentials {
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
export function credentialFaults(connections: ConnectionCredentials[]): Fault[] {
  return [
    ...connections.flatMap(tokenFaults),
    ...connections.flatMap(apiFaults),
    ...connections.flatMap((one, index) => sharedTokenFaults(one, connections.slice(0, index))),
  ];
}

function tokenFaults({ id, scimToken, tokenEnv, place }: ConnectionCredentials): Fault[] {
  if (tokenEnv === undefined) return [];
  if (scimToken !== undefined) return secretFaults(tokenEnv, scimToken);
  // The first start makes one.
  if (tokenEnv === 'SCIM_TOKEN' && id === 'default') return [];
  const remedy = `Set it, or remove scimTokenEnv and use "jetbridge tokens create --connection ${id}".`;
  return [unsetVariableFault(place, 'scimTokenEnv', tokenEnv, remedy)];
}

function apiFaults({ api: { url, key, paths }, keyEnv, place }: ConnectionCredentials): Fault[] {
  if (url === 'embedded') return key === undefined ? [] : secretFaults(keyEnv, key);
  if (key === undefined)
    return [
      unsetVariableFault(place, 'travelApi.keyEnv', keyEnv, 'Set it to the credential of the travel API.'),
    ];
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
  const weakness = secretWeakness(value);
  return weakness === undefined ? [] : [{ ...at, problem: `${weakness}, so it could be guessed`, remedy }];
}

/** The token alone selects the connection (docs/architecture.md, Connections). */
function sharedTokenFaults(
  { scimToken, tokenEnv, place }: ConnectionCredentials,
  others: ConnectionCredentials[],
): Fault[] {
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

function unsetVariableFault(
  place: ConnectionCredentials['place'],
  key: string,
  name: string,
  remedy: string,
): Fault {
  return {
    file: place.file,
    path: `${place.path}.${key}`,
    problem: `names ${name}, which is not set`,
    remedy,
  };
}

/** What is wrong with a file that should hold JSON, and what would be right. */
export interface UnreadableFile {
  problem: string;
  remedy: string;
  /** True when there is no such file. */
  isMissing: boolean;
}

/** Reads a file of JSON, or tells what keeps it from being read, with the line where that is known. */
export function readJsonFile(file: string): { json: unknown } | UnreadableFile {
  const text = readText(file);
  if (typeof text !== 'string') return text;
  try {
    return { json: JSON.parse(text) };
  } catch (error) {
    return { ...syntaxFault(text, String(error)), isMissing: false };
  }
}

/** Without the mark that some editors put at the beginning. */
function readText(file: string): string | UnreadableFile {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const code = typeof error === 'object' && error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') {
      return { problem: 'does not exist', remedy: 'Create it, or correct its name.', isMissing: true };
    }
    const problem =
      code === 'EISDIR' ? 'is a folder, not a file' : `cannot be read (${String(code ?? error)})`;
    return { problem, remedy: 'Name a file that Jetbridge may read.', isMissing: false };
  }
}

/** A string as a whole, or one of the slips that JSON does not forgive: comments, and commas before a closing bracket. */
const slips = /"(?:\\.|[^"\\])*"|\/[/*]|,(?=\s*[}\]])/g;

function syntaxFault(text: string, message: string): Omit<UnreadableFile, 'isMissing'> {
  if (text.trim() === '') return { problem: 'is empty', remedy: 'Write one JSON object, at least {}.' };
  for (const { 0: slip, index } of text.matchAll(slips)) {
    const where = lineAndColumn(text, index);
    if (slip === ',')
      return { problem: `has a comma after the last entry, ${where}`, remedy: 'Remove that comma.' };
    if (!slip.startsWith('"'))
      return { problem: `has a comment, ${where}`, remedy: 'Remove it: JSON has no comments.' };
  }
  return {
    problem: `is not JSON${positionText(text, message)}`,
    remedy: 'Correct it there: names and texts stand in double quotes, commas between entries.',
  };
}

/** Node tells the position of some faults, and quotes what is around the others. */
function positionText(text: string, message: string): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return `, ${lineAndColumn(text, Number(position))}`;
  return ` (${message.replace(/^SyntaxError: |,? is not valid JSON$/g, '').replace(/\s+/g, ' ')})`;
}

function lineAndColumn(text: string, position: number): string {
  const before = text.slice(0, position).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

/** What `openssl rand` prints has more. */
const LEAST_CHARACTERS = 6;

/** What makes a secret easy to guess however long it is; undefined: nothing that its text shows. */
export function secretWeakness(secret: string): string | undefined {
  if (new Set(secret).size < LEAST_CHARACTERS)
    return `has fewer than ${LEAST_CHARACTERS} different characters`;
  const block = repeatedBlockLength(secret);
  return block === undefined ? undefined : `repeats its first ${block} characters`;
}

/** The length of the block that the text repeats to its end, where the last one may be cut. */
function repeatedBlockLength(text: string): number | undefined {
  for (let length = 1; length * 2 <= text.length; length += 1)
    if (text.startsWith(text.slice(length))) return length;
  return undefined;
}
