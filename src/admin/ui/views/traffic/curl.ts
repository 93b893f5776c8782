import type { ExchangeDetail } from '../../../../operations/traffic/traffic.ts';

/**
 * Returns the command that repeats a request, for a POSIX shell. The credential is a variable of the shell, never its value. All other
 * texts may come from a stranger: none of them is a name of a file, a pattern or an option for curl, or anything but text for the shell.
 */
export function curlText(
  { direction, method, path, request }: Pick<ExchangeDetail, 'direction' | 'method' | 'path' | 'request'>,
  origin: string,
): string {
  const url = quote(origin + withoutHost(path));
  if (direction === 'oauth')
    return [`curl --globoff ${url}`, ...formOf(request.body?.text ?? '{}')].join(NEXT_LINE);
  const variable = direction === 'scim' ? '$SCIM_TOKEN' : '$TRAVEL_API_KEY';
  const isHead = method === 'HEAD';
  return [
    `curl --globoff ${isHead ? '--head' : `-X ${quote(method)}`} ${url}`,
    `-H "Authorization: Bearer ${variable}"`,
    ...Object.entries(request.headers).flatMap(([name, value]) => headerOf(name, value ?? '')),
    // With a body, curl takes no --head.
    ...(request.body && !isHead ? [dataOf(quote(request.body.text))] : []),
  ].join(NEXT_LINE);
}

const NEXT_LINE = ' \\\n  ';

/** A request target may be a whole URL (RFC 9112 §3.2.2), which would continue the host name of the origin. */
function withoutHost(target: string): string {
  return target.startsWith('/') ? target : `/${target.replace(/^[^/?#]*:\/\/[^/?#]*\/?/, '')}`;
}

/** For curl, a header that begins with `@` is a file, and one without a value is written with a semicolon. */
function headerOf(name: string, value: string): string[] {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return [];
  const text = value.replace(/[\r\n]+/g, ' ');
  return [`-H ${quote(text.trim() === '' ? `${name};` : `${name}: ${text}`)}`];
}

/** Unlike --data and --data-binary, --data-raw reads no file. */
function dataOf(quoted: string): string {
  return `--data-raw ${quoted}`;
}

/** The log has the parameters as JSON, with `*` in place of a secret. */
function formOf(parameters: string): string[] {
  return Object.entries(Object(JSON.parse(parameters || '{}'))).map(([name, value]) =>
    value === '*' && /^\w+$/.test(name)
      ? dataOf(`"${name}=$${name.toUpperCase()}"`)
      : dataOf(quote(`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)),
  );
}

/**
 * Quotes a text for a POSIX shell. Control characters are written as escapes: a terminal would take them for keys when the
 * command is pasted.
 */
function quote(text: string): string {
  if (/^[\w./:-]+$/.test(text)) return text;
  const quoted = text.replaceAll("'", `'\\''`);
  return `'${quoted.replace(CONTROL_CHARACTERS, (found) => `'"$(printf '${octal(found)}')"'`)}'`;
}

/** All but the line feed, which a terminal takes as part of a quoted text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL_CHARACTERS = /[\u0001-\u0009\u000b-\u001f\u007f-\u009f]+/g;

/** The bytes of a text for printf. */
function octal(text: string): string {
  return [...new TextEncoder().encode(text)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
