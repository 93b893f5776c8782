import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** One fault of the settings: the file (or `environment`), the JSON path or variable, the problem, and the remedy. */
export interface Fault {
  file: string;
  path: string;
  problem: string;
  remedy: string;
}

/** Thrown if the settings have faults; nothing has been started. The message has one line for each fault. */
export class SettingsFault extends Error {
  readonly faults: Fault[];
  constructor(faults: Fault[]) {
    super(faults.map(faultLine).join('\n'));
    this.name = 'SettingsFault';
    this.faults = faults;
  }
}

/** Formats a fault as one line; line breaks in values become spaces. */
export function faultLine({ file, path, problem, remedy }: Fault): string {
  return `${file} ${path}: ${problem}. ${remedy}`.replace(/\s+/g, ' ');
}

/** Returns a path for messages: relative if it lies below the current folder, else absolute. */
export function displayPath(file: string): string {
  const relativePath = relative(process.cwd(), file);
  return relativePath.startsWith('..') ? file : relativePath;
}

/** The credentials of a connection, with the variables that they come from. */
export interface ConnectionCredentials {
  id: string;
  /** The file and JSON path of the connection. */
  place: { file: string; path: string };
  /** The variable of the SCIM token; undefined if the connection has stored tokens only. */
  tokenEnv: string | undefined;
  scimToken: string | undefined;
  /** The variable of the travel credential. */
  keyEnv: string;
  api: { url: string; key: string | undefined; paths: object };
}

/** The shortest credential that is accepted, in characters; a shorter one could be guessed. */
const MIN_LENGTH = 16;

/** Returns the faults of the credentials in the environment and of the travel URLs that they are used for. */
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
  // The first start creates a token for the default connection.
  if (tokenEnv === 'SCIM_TOKEN' && id === 'default') return [];
  const remedy = `Set it, or remove scimTokenEnv and use "npx jetbridge tokens create --connection ${id}".`;
  return [unsetVariableFault(settingOf(place, 'scimTokenEnv'), tokenEnv, remedy)];
}

function apiFaults({ api: { url, key, paths }, keyEnv, place }: ConnectionCredentials): Fault[] {
  if (url === 'embedded') return key === undefined ? [] : secretFaults(keyEnv, key);
  const setRemedy = 'Set it to the credential of the travel API.';
  if (key === undefined) return [unsetVariableFault(settingOf(place, 'travelApi.keyEnv'), keyEnv, setRemedy)];
  const hasDoubledPath = /\/api\/*$/.test(url) && Object.keys(paths).length === 0;
  if (!hasDoubledPath) return [];
  const remedy = `Leave /api out, as the paths begin with it: ${url.replace(/\/api\/*$/, '')}.`;
  return [{ ...settingOf(place, 'travelApi.url'), problem: `is ${url}, with /api at the end`, remedy }];
}

/** The place of a setting of a connection. */
function settingOf({ file, path }: ConnectionCredentials['place'], key: string) {
  return { file, path: `${path}.${key}` };
}

/** A credential must be a bearer token (RFC 6750 §2.1) that is hard to guess. */
function secretFaults(name: string, value: string): Fault[] {
  const at = { file: 'environment', path: name };
  const remedy = 'Give one as "openssl rand -hex 32" prints it.';
  if (value.length < MIN_LENGTH)
    return [{ ...at, problem: `has less than ${MIN_LENGTH} characters`, remedy }];
  if (!/^[\w.~+/-]+=*$/.test(value))
    return [{ ...at, problem: 'has characters that a bearer token cannot have', remedy }];
  const weakness = secretWeakness(value);
  return weakness === undefined ? [] : [{ ...at, problem: `${weakness}, so it could be guessed`, remedy }];
}

/** Two connections must not share a token, because the token alone selects the connection (docs/architecture.md, Connections). */
function sharedTokenFaults(
  { scimToken, tokenEnv, place }: ConnectionCredentials,
  others: ConnectionCredentials[],
): Fault[] {
  const other = others.find((one) => scimToken !== undefined && one.scimToken === scimToken);
  if (!other) return [];
  return [
    {
      ...place,
      problem: `has the same token (${tokenEnv}) as connections.${other.id}`,
      remedy: 'Give each connection a token of its own: it tells them apart.',
    },
  ];
}

/** The settings file, as a path for messages, the environment variables that are set, and the faults of both. */
export interface SettingsContext {
  file: string;
  present: Record<string, string | undefined>;
  faults: Fault[];
}

/** Returns the value of the environment variable that a setting names. If the variable is not set, adds a fault. */
export function requireVariable(
  { file, present, faults }: SettingsContext,
  path: string,
  { variable, remedy }: { variable: string; remedy: string },
): string | undefined {
  const value = present[variable];
  if (value === undefined) faults.push(unsetVariableFault({ file, path }, variable, remedy));
  return value;
}

function unsetVariableFault(place: { file: string; path: string }, name: string, remedy: string): Fault {
  return { ...place, problem: `names ${name}, which is not set`, remedy };
}

/** The problem of a file that should contain JSON, and the remedy. */
export interface UnreadableFile {
  problem: string;
  remedy: string;
  /** True if the file does not exist. */
  isMissing: boolean;
}

/** Reads a JSON file. Returns the problem instead if it cannot be read or parsed, with line and column if they are known. */
export function readJsonFile(file: string): { json: unknown } | UnreadableFile {
  const text = readText(file);
  if (typeof text !== 'string') return text;
  const parsed = parseJsonText(text);
  return 'json' in parsed ? parsed : { ...parsed, isMissing: false };
}

/** Parses JSON. Returns the problem instead if the text is not JSON, with line and column if they are known. */
export function parseJsonText(text: string): { json: unknown } | Omit<UnreadableFile, 'isMissing'> {
  try {
    return { json: JSON.parse(text) };
  } catch (error) {
    return syntaxFault(text, String(error));
  }
}

/** Reads a file of UTF-8. */
export function readText(file: string): string | UnreadableFile {
  try {
    return decodeUtf8(readFileSync(file));
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

/**
 * Decodes the content of a file, without the byte order mark that some editors write at the beginning. Windows PowerShell 5 writes UTF-16
 * where the output of a command is sent to a file.
 */
function decodeUtf8(bytes: Buffer): string | UnreadableFile {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const [first, second] = bytes;
    const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
    const problem = `is not text in UTF-8${isUtf16 ? ', but in UTF-16' : ''}`;
    return { problem, remedy: 'Save it as UTF-8.', isMissing: false };
  }
}

/** Matches a whole string, or a common mistake: a comment, or a comma before a closing bracket. */
const stringsAndMistakes = /"(?:\\.|[^"\\])*"|\/[/*]|,(?=\s*[}\]])/g;

function syntaxFault(text: string, message: string): Omit<UnreadableFile, 'isMissing'> {
  if (text.trim() === '') return { problem: 'is empty', remedy: 'Write one JSON object, at least {}.' };
  for (const { 0: match, index } of text.matchAll(stringsAndMistakes)) {
    const where = lineAndColumn(text, index);
    if (match === ',')
      return { problem: `has a comma after the last entry, ${where}`, remedy: 'Remove that comma.' };
    if (!match.startsWith('"'))
      return { problem: `has a comment, ${where}`, remedy: 'Remove it: JSON has no comments.' };
  }
  return {
    problem: `is not JSON${positionText(text, message)}`,
    remedy: 'Correct it there: names and texts stand in double quotes, commas between entries.',
  };
}

/** Node's message has the position of some syntax errors and quotes the surrounding text of others. */
function positionText(text: string, message: string): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return `, ${lineAndColumn(text, Number(position))}`;
  return ` (${message.replace(/^SyntaxError: |,? is not valid JSON$/g, '').replace(/\s+/g, ' ')})`;
}

function lineAndColumn(text: string, position: number): string {
  const before = text.slice(0, position).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

/** A secret with fewer different characters is easy to guess; the output of `openssl rand` always has more. */
const MIN_DIFFERENT_CHARACTERS = 6;

/** Returns the reason for which a secret is easy to guess despite its length; undefined if its text shows none. */
export function secretWeakness(secret: string): string | undefined {
  if (new Set(secret).size < MIN_DIFFERENT_CHARACTERS)
    return `has fewer than ${MIN_DIFFERENT_CHARACTERS} different characters`;
  const block = repeatedBlockLength(secret);
  return block === undefined ? undefined : `repeats its first ${block} characters`;
}

/** Returns the length of the block that the text repeats until its end (the last repetition may be incomplete). */
function repeatedBlockLength(text: string): number | undefined {
  for (let length = 1; length * 2 <= text.length; length += 1)
    if (text.startsWith(text.slice(length))) return length;
  return undefined;
}
