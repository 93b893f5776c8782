import { execFileSync } from 'node:child_process';
import { curlText } from '../../../src/admin/ui/views/traffic/curl.ts';

/** The arguments that curl would get if a POSIX shell executed the command. */
function argumentsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}\n`;
  const env = { SCIM_TOKEN: 'the token', TRAVEL_API_KEY: 'the key', CLIENT_SECRET: 'the-secret' };
  return execFileSync('/bin/sh', ['-c', script], { env, encoding: 'utf8' }).split('\0').slice(0, -1);
}

const scim = { direction: 'scim', method: 'PUT', path: '/scim/v2/Users/1' } as const;
const withBody = (text: string, headers: Record<string, string> = {}) =>
  curlText({ ...scim, request: { headers, body: { text, isCut: false } } }, 'https://jb.example');

test('a request becomes a command with a variable in place of the credential', () => {
  const request = {
    headers: { 'content-type': 'application/scim+json' },
    body: { text: `{"displayName":"O'Neill"}`, isCut: false },
  };
  const command = curlText({ ...scim, path: '/scim/v2/Users/1?a=b', request }, 'https://jb.example');
  expect(command).toBe(
    [
      `curl --globoff -X PUT 'https://jb.example/scim/v2/Users/1?a=b'`,
      '-H "Authorization: Bearer $SCIM_TOKEN"',
      `-H 'content-type: application/scim+json'`,
      `--data-raw '{"displayName":"O'\\''Neill"}'`,
    ].join(' \\\n  '),
  );
  expect(argumentsOf(command)).toEqual([
    ...['--globoff', '-X', 'PUT', 'https://jb.example/scim/v2/Users/1?a=b'],
    ...['-H', 'Authorization: Bearer the token', '-H', 'content-type: application/scim+json'],
    ...['--data-raw', `{"displayName":"O'Neill"}`],
  ]);
  expect(curlText({ ...scim, direction: 'travel', request }, '')).toContain('$TRAVEL_API_KEY');
});

test.each([
  ['a name of a file', '@/etc/hostname'],
  ['an option', '-o/tmp/x'],
  ['a text with quotes', `'"'; echo x; '`],
  ['expansions', '$(id) `id` $HOME \\ !! ~ *'],
  ['several lines', '{\n  "a": 1\n}\n'],
  ['keys of a terminal', '\u001b[201~\r\tid\u007f\u0003\u009b201~x'],
  ['letters of every kind', 'Zoë 👩‍🚀 \u00a0'],
])('a body that is %s arrives as it is', (_title, text) => {
  const command = withBody(text);
  expect(argumentsOf(command).slice(-2)).toEqual(['--data-raw', text]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal takes them for keys.
  expect(command).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

test('a header is the text that was received, and no file', () => {
  const headers = {
    'user-agent': `it's "x" !! $(id)`,
    'if-match': '',
    '@/etc/hostname': 'x',
    x: 'a\r\nHost: b',
  };
  expect(argumentsOf(withBody('', headers)).slice(6, -2)).toEqual([
    ...['-H', `user-agent: it's "x" !! $(id)`, '-H', 'if-match;', '-H', 'x: a Host: b'],
  ]);
});

test.each([
  ['/scim/v2/Users?filter=emails[type eq "work"]&x={1,2}'],
  ['//evil.example/scim/v2/Users'],
  ['/scim/v2/Users/-o'],
])('the path %s stays on the host', (path) => {
  const command = curlText({ ...scim, path, request: { headers: {} } }, 'https://jb.example');
  expect(argumentsOf(command).slice(0, 4)).toEqual(['--globoff', '-X', 'PUT', `https://jb.example${path}`]);
});

test.each(['m://evil.example/scim/v2/Users?a=b', 'http://evil.example/scim/v2/Users?a=b'])(
  'of the target %s only the path counts (RFC 9112 §3.2.2)',
  (path) => {
    const command = curlText({ ...scim, path, request: { headers: {} } }, 'https://jb.example.co');
    expect(argumentsOf(command)[3]).toBe('https://jb.example.co/scim/v2/Users?a=b');
  },
);

test('HEAD is asked for by --head, because curl would wait for the body of a response', () => {
  const request = { headers: {}, body: { text: 'x', isCut: false } };
  const command = curlText({ ...scim, method: 'HEAD', request }, 'https://jb.example');
  expect(argumentsOf(command)).toEqual([
    ...['--globoff', '--head', 'https://jb.example/scim/v2/Users/1'],
    ...['-H', 'Authorization: Bearer the token'],
  ]);
});

test('the curl of a token request has variables in place of what the log does not have', () => {
  const form = {
    grant_type: 'client_credentials',
    client_id: '4f2a',
    client_secret: '*',
    '@/etc/x': '&@$(id)',
  };
  const request = { headers: {}, body: { text: JSON.stringify(form), isCut: false } };
  const exchange = { direction: 'oauth', method: 'POST', path: '/oauth/token', request } as const;
  const command = curlText(exchange, 'https://bridge.example');
  expect(command).toContain('--data-raw "client_secret=$CLIENT_SECRET"');
  expect(argumentsOf(command)).toEqual([
    ...['--globoff', 'https://bridge.example/oauth/token'],
    ...['--data-raw', 'grant_type=client_credentials', '--data-raw', 'client_id=4f2a'],
    ...['--data-raw', 'client_secret=the-secret', '--data-raw', '%40%2Fetc%2Fx=%26%40%24(id)'],
  ]);
});
