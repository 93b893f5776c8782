/** What no log may show, by its name; a part of the name is enough, e.g. `apiKey`. */
const secret = /secret|password|token|key|authorization/i;
/** A text in which such a name may stand; an escape may spell any letter of it. */
const suspicious = /secret|password|token|key|authorization|\\u/i;
/** A text that tells a secret by its name, such as JSON inside of a string. Bounded, so that the search stays linear. */
const telling = /(?:secret|password|token|key|authorization)\w{0,30}["'\\\s]{0,9}[:=]/i;

const STRUCK = '*';
const LEFT_OUT = '(left out: it cannot be read as JSON, and may hold a secret)';

/** JSON text without the values of what is secret by its name, at whatever depth. Most texts hold none and stay as they are. */
export function withoutSecrets(text: string): string {
  if (!suspicious.test(text)) return text;
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
  if (typeof value === 'string') return telling.test(value) ? STRUCK : value;
  return isFaultOfSecret(value) ? { ...value, value: STRUCK } : value;
}

/** A fault names the field and repeats what was received (specification, "Error body"). */
function isFaultOfSecret(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || !('field' in value) || !('value' in value)) return false;
  return typeof value.field === 'string' && secret.test(value.field);
}

function struckParameter(parameter: string): string {
  const at = parameter.indexOf('=');
  if (at < 0 || !(secret.test(decoded(parameter.slice(0, at))) || telling.test(decoded(parameter))))
    return parameter;
  return `${parameter.slice(0, at)}=${STRUCK}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
