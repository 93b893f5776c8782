import { decodeOrKeep } from '../http/redaction.ts';
import type { StoredExchange } from './exchange.ts';

/**
 * Finds the names of people in an exchange (ids, userNames and addresses), except the SCIM id of the person whom it is about. True: its
 * path or query asks for the name; false: a body has it.
 */
export function namesInExchange({
  path,
  person,
  requestBody,
  responseBody,
}: StoredExchange): Map<string, boolean> {
  const names = new Map<string, boolean>();
  for (const body of [requestBody, responseBody])
    for (const name of body ? namesInBody(body.text) : []) names.set(name, false);
  for (const name of namesAskedFor(path)) names.set(name, true);
  if (person !== undefined) names.delete(person);
  return names;
}

/** The longest name that is looked for, in characters. */
const MAX_NAME = 320;
/**
 * The search begins at each `@` and looks back from there, and the repetitions are bounded: a long text without spaces would otherwise
 * take quadratic time.
 */
const ADDRESS = /@(?<=([^\s"<>()[\]\\,;:]{1,64}@))([^\s"<>()[\]\\,;:]{1,255})/g;
/** Members of SCIM and of the travel API that contain ids, userNames and addresses. */
const NAMING_MEMBER = /"(?:userName|externalId|id|value|managerId)"\s*:\s*"([^"]+)"/gi;
/** Values that a filter compares with, also in the path of an operation of a PATCH. */
const COMPARED_VALUE = /\beq\s+"([^"]+)"/gi;
/** The id of a user in a path of SCIM or of the travel API. */
const USER_IN_PATH = /\/users\/([^/]+)/i;

/** Returns the names in a JSON text, which may be truncated. */
function namesInBody(body: string): string[] {
  const text = body.includes('\\') ? unescapeJson(body) : body;
  return findNames(text, [ADDRESS, NAMING_MEMBER, COMPARED_VALUE]);
}

function findNames(text: string, patterns: RegExp[]): string[] {
  return patterns
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .map(([, ...parts]) => parts.join('').replace(/\.+$/, ''))
    .filter((name) => name !== '' && name.length <= MAX_NAME);
}

/** Replaces the escape sequences of JSON, so that names are found however a client writes them. */
function unescapeJson(text: string): string {
  return text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\["\\/]/g, (sequence) => sequence.charAt(1))
    .replace(/\\[bfnrt]/g, ' ');
}

/** Returns the names that a path and its query ask for. */
function namesAskedFor(url: string): string[] {
  const [path = '', ...query] = url.split('?');
  const user = USER_IN_PATH.exec(path)?.[1];
  const segments = /@|%40/.test(path) ? path.split('/').map(decodeOrKeep) : [];
  const values = query.length > 0 ? [...new URLSearchParams(query.join('?')).values()] : [];
  return [
    ...(user === undefined ? [] : [decodeOrKeep(user)]),
    ...[...segments, ...values].flatMap((text) => findNames(text, [ADDRESS, COMPARED_VALUE])),
  ];
}
