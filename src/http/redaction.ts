import { isTextNestedTooDeep } from '../schema/json-depth.ts';

/**
 * Redacts and truncates a body for a log, in this order, because a secret cannot be recognized in a truncated text.
 * `cut` tells whether it was longer.
 */
export function redactBody(text: string, maxBytes: number): { text: string; cut: boolean } {
  const safe = redactSecrets(text);
  const struck = safe.includes('\0') ? safe.replaceAll('\0', '\uFFFD') : safe;
  // Texts up to this length need not be measured, because a UTF-16 unit takes at most three bytes in UTF-8.
  if (struck.length * 3 <= maxBytes) return { text: struck, cut: false };
  const kept = Buffer.alloc(maxBytes);
  const { read, written } = new TextEncoder().encodeInto(struck, kept);
  if (read === struck.length) return { text: struck, cut: false };
  return { text: kept.toString('utf8', 0, written), cut: true };
}

/** The names of secret members. The word can be a part of the name, as in `apiKey`. */
const SECRET_NAME = /secret|password|token|key|authorization/i;
/** A quick test whether a text may contain such a name. `\u` may be the escape sequence of any letter in it. */
const MAY_HOLD_SECRET = /secret|password|token|key|authorization|\\u/i;
/**
 * The start of a URL in a text, and the start of its query or fragment, which often contains the secret of a webhook
 * receiver.
 */
const URL_START = /https?:/i;
const QUERY_START = /[?#]/;
/** The user name and password of a URL. In JSON, slashes may be escaped. */
const USER_INFO = /(\\?\/){2}[^/?#\s"]*@/;
/** A named secret inside a text, e.g. JSON within a string. Quantifiers are bounded to keep the search linear. */
const NAMED_SECRET = /(?:secret|password|token|key|authorization)\w{0,30}["'\\\s]{0,9}[:=]/i;

const REDACTED = '*';
const LEFT_OUT = '(left out: it cannot be read as JSON, and may hold a secret)';

/** Redacts the secret members of a JSON text at any depth. Most texts have none and are returned unchanged. */
export function redactSecrets(text: string): string {
  if (!MAY_HOLD_SECRET.test(text) && !mayHoldQuery(text) && !USER_INFO.test(text)) return text;
  // Brackets alone take long to be parsed.
  if (isTextNestedTooDeep(text)) return LEFT_OUT;
  try {
    return JSON.stringify(JSON.parse(text), redactMember);
  } catch {
    return LEFT_OUT;
  }
}

/** Redacts secret parameters in a path with a query. */
export function redactQuery(url: string): string {
  const at = url.indexOf('?');
  if (at < 0) return url;
  const parameters = url.slice(at + 1).split('&');
  return `${url.slice(0, at)}?${parameters.map(redactParameter).join('&')}`;
}

/**
 * Redacts what may be a secret in the URL of a webhook: user name and password, path, query and fragment. Receivers such as Slack have
 * their secret in the path. Other texts are redacted as a whole, because a refused value may hold a secret anywhere.
 */
export function redactWebhookUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return REDACTED;
  const { username, password, pathname, search, hash } = url;
  if (username + password !== '') Object.assign(url, { username: REDACTED, password: '' });
  if (pathname + search + hash !== '/')
    Object.assign(url, { pathname: `/${REDACTED}`, search: '', hash: '' });
  return url.href;
}

function redactMember(name: string, value: unknown): unknown {
  if (value === null) return value;
  if (SECRET_NAME.test(name)) return REDACTED;
  if (typeof value === 'string') return NAMED_SECRET.test(value) ? REDACTED : redactUrl(name, value);
  const field = namedField(value);
  if (!field) return value;
  if (SECRET_NAME.test(field.name)) return { ...value, value: REDACTED };
  return typeof field.value === 'string' ? { ...value, value: redactUrl(field.name, field.value) } : value;
}

/** A field named `url` counts even if its value is no URL: a refused value is recorded too. */
function mayHoldQuery(text: string): boolean {
  return text.includes('"url"') || (QUERY_START.test(text) && URL_START.test(text));
}

/**
 * Redacts user names and passwords of URLs, and everything after the path of the first URL in a text, because the end of the URL
 * cannot be determined. A member `url` is the address of a webhook, whose path may be its secret.
 */
function redactUrl(name: string, given: string): string {
  const text = given.replace(new RegExp(USER_INFO, 'g'), `//${REDACTED}@`);
  if (name === 'url') {
    const [origin = ''] = /^(?:[a-z][\w+.-]*:)?\/{0,2}[^/?#]*/i.exec(text) ?? [];
    return text.length - origin.length > 1 ? `${origin}/${REDACTED}` : text;
  }
  const begin = text.search(URL_START);
  const query = begin < 0 ? -1 : text.slice(begin).search(QUERY_START);
  return query < 0 ? text : `${text.slice(0, begin + query + 1)}${REDACTED}`;
}

/**
 * Returns the name and value of an object that contains both: a fault in an error body of the travel API (specification,
 * "Error body"), or an operation of a SCIM PATCH (RFC 7644 §3.5.2).
 */
function namedField(value: unknown): { name: string; value: unknown } | undefined {
  if (typeof value !== 'object' || value === null || !('value' in value)) return undefined;
  const name = 'field' in value ? value.field : 'path' in value ? value.path : undefined;
  return typeof name === 'string' ? { name, value: value.value } : undefined;
}

function redactParameter(parameter: string): string {
  const at = parameter.indexOf('=');
  if (at < 0) return parameter;
  const [name, whole] = [decodeOrKeep(parameter.slice(0, at)), decodeOrKeep(parameter)];
  if (!SECRET_NAME.test(name) && !NAMED_SECRET.test(whole) && !mayHoldQuery(whole)) return parameter;
  return `${parameter.slice(0, at)}=${REDACTED}`;
}

/** Decodes a percent-encoded text. One that is not encoded right stays as it is. */
export function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Hides a user name and password in a URL. */
export function hideUrlCredentials(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//********@');
}
