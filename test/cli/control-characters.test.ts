import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { escapeControls, escapeLine, jsonLine } from '../../src/cli/terminal/output.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { rawExchange, requestText } from '../fixtures/raw-http.ts';
import { startService } from '../fixtures/service.ts';
import { anyCharacter } from '../fixtures/unicode.ts';

/** Characters of every kind that control a terminal or reorder a text: C0, DEL, C1, separators and bidi controls. */
const forbidden = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
/** A name that clears the screen, reverses text and forges a line. */
const NASTY = 'ev\x1b[2J\x7f\x9b31m\u202e\u2066\u2028il\rx\ttab\nforged: line';

describe('text for the terminal', () => {
  const anyText = fc
    .array(fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom(...NASTY)))
    .map((parts) => parts.join(''));

  it('has no control characters except line breaks, which are CR LF in CSV', () => {
    const escaped = (text: string) => escapeControls(text).replaceAll('\r\n', '\n');
    fc.assert(fc.property(anyText, (text) => expect(escaped(text)).not.toMatch(forbidden)));
  });

  it('has no CR without LF', () => {
    expect(escapeControls('a\rb\r\r\nc\r')).toBe('a\\u{d}b\\u{d}\r\nc\\u{d}');
  });

  it('takes one line if it comes from data', () => {
    fc.assert(fc.property(anyText, (text) => expect(escapeLine(text)).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)));
  });

  it('means the same as JSON after escaping', () => {
    fc.assert(
      fc.property(anyText, anyText, (name, value) => {
        const line = jsonLine({ [name]: [value] });
        expect(line).not.toMatch(forbidden);
        expect(line).not.toContain('\n');
        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify({ [name]: [value] })));
      }),
    );
  });

  it('is unchanged if it has none', () => {
    const text = 'Zoë Łęcka 研究 │ é “x” — 👩‍💻';
    expect(escapeControls(`${text}\n${text}`)).toBe(`${text}\n${text}`);
  });
});

describe('no command prints a control character from its data:', () => {
  const folder = temporaryFolder();
  const environment: Record<string, string> = {
    JETBRIDGE_DATA: join(folder.path, 'data'),
    TRAVEL_API_KEY: 'travel-key-of-the-tests',
    SCIM_TOKEN: 'scim-token-of-the-tests',
  };
  const file = (name: string, content: unknown) => {
    writeFileSync(join(folder.path, name), JSON.stringify(content));
    return join(folder.path, name);
  };
  const user = {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: NASTY,
    name: { givenName: NASTY, familyName: NASTY },
    emails: [{ value: `${NASTY}@corp.example` }],
    phoneNumbers: [{ value: NASTY }],
    preferredLanguage: NASTY,
  };
  beforeAll(async () => {
    const service = await startService(environment, { background: false });
    const made = await fetch(`${service.url}/scim/v2/Users`, {
      method: 'POST',
      headers: { Authorization: 'Bearer scim-token-of-the-tests', 'Content-Type': 'application/scim+json' },
      body: JSON.stringify(user),
    });
    expect(made.status).toBe(201);
    const target = '/api/users/\x9b31m\x7f?why=\x85';
    const headers = { Authorization: 'Bearer travel-key-of-the-tests' };
    await rawExchange(
      Number(new URL(service.url).port),
      Buffer.from(requestText({ method: 'GET', target, headers }), 'latin1'),
    );
    const post = { Authorization: headers.Authorization, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ data: { name: NASTY } });
    await fetch(`${service.url}/api/cost-centers`, { method: 'POST', headers: post, body });
    await service.close();
    for (const args of [
      ['tokens', 'create'],
      ['api-keys', 'create', '--user', 'admin@jetbridge.local'],
      ['oauth-clients', 'create', '--connection', 'default'],
    ])
      expect(await runCommandLine([...args, '--name', NASTY], environment)).toMatchObject({ code: 0 });
  });
  afterAll(() => folder.remove());

  const scenario = {
    name: NASTY,
    source: 'test',
    severity: 'must',
    steps: [{ note: NASTY, request: { method: 'GET', path: '/Users' }, expect: { status: [299] } }],
  };

  it.each<[string, string[], number]>([
    ['the list of tokens', ['tokens', 'list'], 0],
    ['the list of API keys', ['api-keys', 'list'], 0],
    ['the list of OAuth clients', ['oauth-clients', 'list'], 0],
    ['the list of requests', ['requests'], 0],
    ['the requests as JSON', ['requests', '--json'], 0],
    ['a user of the request log who is not known', ['requests', '--user', `${NASTY}@x`], 1],
    ['a person who is not known', ['holds', 'show', `no${NASTY}`], 1],
    ['a person who is not held', ['holds', 'approve', NASTY, '--yes'], 1],
    ['a person who waits for nobody', ['holds', 'show', NASTY], 1],
    ['a connection that is not known', ['holds', 'list', '--connection', NASTY], 1],
    ['a connection that is not in the database', ['connections', 'forget', NASTY, '--yes'], 1],
    ['a command that there is not', [NASTY], 2],
    ['an option that there is not', ['serve', `--${NASTY}`], 2],
    ['a preview of a user', ['preview', '--input', file('user.json', user)], 0],
    ['a file that is not there', ['preview', '--input', join(folder.path, NASTY)], 1],
    [
      'a scenario',
      ['replay', file('scenario.json', scenario), '--url', 'http://127.0.0.1:9/scim/v2', '--token', 'x'],
      1,
    ],
  ])('%s', async (_title, args, code) => {
    const ran = await runCommandLine(args, environment);
    expect(ran.out + ran.err).not.toMatch(forbidden);
    expect(ran.out).not.toMatch(/^forged/m);
    expect([ran.code, ran.err]).toEqual([code, expect.anything()]);
    // The characters are escaped, not removed.
    if (args[0] !== 'requests' && args[0] !== 'preview') expect(ran.out + ran.err).toContain('\\u{1b}');
  });

  it('faults of the settings', async () => {
    const settings = file('settings.json', { [NASTY]: 1, connections: { [NASTY]: {} } });
    const ran = await runCommandLine(['check'], { ...environment, JETBRIDGE_CONFIG: settings });
    expect(ran).toMatchObject({ code: 1, out: '', err: expect.stringContaining('ev\\u001b[2J\\u{7f}') });
    expect(ran.err).not.toMatch(forbidden);
  });
});
