/** What no log may show, by its name; a part of the name is enough, e.g. `apiKey`. */
const secret = /secret|password|token|key|authorization/i;
/** A text in which such a name may stand; an escape may spell any letter of it. */
const suspicious = /secret|password|token|key|authorization|\\u/i;
/** A URL in a text, and what begins its query or fragment: there many receivers of webhooks want their secret. */
const url = /https?:/i;
const afterPath = /[?#]/;
/** A text that tells a secret by its name, such as JSON inside of a string. Bounded, so that the search stays linear. */
const telling = /(?:secret|password|token|key|authorization)\w{0,30}["'\\\s]{0,9}[:=]/i;

const STRUCK = '*';
const LEFT_OUT = '(left out: it cannot be read as JSON, and may hold a secret)';

/** JSON text without the values of what is secret by its name, at whatever depth. Most texts hold none and stay as they are. */
export function withoutSecrets(text: string): string {
  if (!suspicious.test(text) && !mayHoldQuery(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), strike);
  } catch {
    // Broken, or nested too deeply to be printed.
    return LEFT_OUT;
  }
}

/** A path and query without the values of secret parameters. */
export function withoutSecretParameters(url: string): string {
  const at = url.indexOf('?');
  if (at < 0) return url;
  const parameters = url.slice(at + 1).split('&');
  return `${url.slice(0, at)}?${parameters.map(struckParameter).join('&')}`;
}

function strike(name: string, value: unknown): unknown {
  if (value === null) return value;
  if (secret.test(name)) return STRUCK;
  if (typeof value === 'string') return telling.test(value) ? STRUCK : withoutQuery(name, value);
  if (!isFault(value)) return value;
  if (secret.test(value.field)) return { ...value, value: STRUCK };
  return typeof value.value === 'string'
    ? { ...value, value: withoutQuery(value.field, value.value) }
    : value;
}

/** Also what stands in a field `url` and is no URL: it is refused, and recorded all the same. */
function mayHoldQuery(text: string): boolean {
  return afterPath.test(text) && (url.test(text) || text.includes('"url"'));
}

/** A text without what follows the path of a URL in it, whatever it is: where the URL ends cannot be told for sure. */
function withoutQuery(name: string, text: string): string {
  const begin = name === 'url' ? 0 : text.search(url);
  const query = begin < 0 ? -1 : text.slice(begin).search(afterPath);
  return query < 0 ? text : `${text.slice(0, begin + query + 1)}${STRUCK}`;
}

/** A fault names the field and repeats what was received (specification, "Error body"). */
function isFault(value: unknown): value is { field: string; value: unknown } {
  if (typeof value !== 'object' || value === null || !('field' in value) || !('value' in value)) return false;
  return typeof value.field === 'string';
}

function struckParameter(parameter: string): string {
  const at = parameter.indexOf('=');
  if (at < 0) return parameter;
  const [name, whole] = [decoded(parameter.slice(0, at)), decoded(parameter)];
  if (!secret.test(name) && !telling.test(whole) && !mayHoldQuery(whole)) return parameter;
  return `${parameter.slice(0, at)}=${STRUCK}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
