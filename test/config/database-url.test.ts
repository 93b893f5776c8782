import { join } from 'node:path';
import { isUnencrypted } from '../../src/config/database-url.ts';
import { SettingsFault } from '../../src/config/faults.ts';
import { readSettings } from '../../src/config/settings.ts';
import { createLog } from '../../src/http/log.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { start } from '../../src/server/start.ts';
import { parseLinesInto } from '../fixtures/http.ts';

const home = join(__dirname, '..', '..');
const KEY = '89faff02a3fed2ade8256581cc47d9f3d0bef56c29797f5f4b1cb0b8d07d74be';

/** Returns the fault of a DATABASE_URL, as the line that the operator gets; undefined if there is none. */
function faultOf(url: string): string | undefined {
  try {
    readSettings({ DATABASE_URL: url, JETBRIDGE_KEY: KEY }, home);
    return undefined;
  } catch (error) {
    if (!(error instanceof SettingsFault)) throw error;
    return error.message;
  }
}

test.each([
  ['postgres://jetbridge:password@db.example.com/jetbridge'],
  ['postgresql://jetbridge:password@db.example.com:5433/jetbridge'],
  ['postgres://db.example.com/jetbridge'],
  ['postgres://jetbridge:p%40%2F%23%3Fx%25@db.example.com/jetbridge'],
  ['postgres://jetbridge:password@[::1]:5432/jetbridge'],
  ['postgresql://jetbridge@/jetbridge?host=/run/postgresql'],
  ['postgres://db.example.com/jetbridge?user=jetbridge@tenant&password=a@b'],
])('%s is accepted', (url) => {
  expect(faultOf(url)).toBeUndefined();
});

test.each([
  ['postgres://jetbridge:password@db.example.com'],
  ['postgres://jetbridge:password@db.example.com/'],
  ['postgres://jetbridge:password@db.example.com:5432/?sslmode=verify-full'],
  ['postgres://db.example.com?sslmode=verify-full'],
  ['postgresql://jetbridge@/?host=/run/postgresql'],
])('%s names no database, so that the tables would go into the one that has the name of the user', (url) => {
  expect(faultOf(url)).toBe(
    'environment DATABASE_URL: names no database. Give e.g. postgres://jetbridge:password@db.example.com/jetbridge.',
  );
});

test.each([
  ['every special character', 'p@/#?x'],
  ['an @', 'p@x'],
  ['a slash', 'p/x'],
  ['a slash after digits, which a port could be', '12/x'],
  ['an @ and a slash', 'p@/x'],
  ['a question mark', 'p?x'],
  ['a question mark after digits', '12?x'],
  ['a number sign', 'p#x'],
  ['a percent sign', '50%'],
  ['an escape that is no UTF-8', 'p%ff'],
])(
  'a password with %s is refused unless it is percent-encoded, and no part of it is shown',
  (_title, password) => {
    expect(faultOf(`postgres://jetbridge:${password}@db.example.com:5432/jetbridge`)).toBe(
      'environment DATABASE_URL: has a special character that is not percent-encoded. ' +
        'Percent-encode special characters of the password: @ as %40, / as %2F, # as %23, ? as %3F, % as %25.',
    );
    expect(faultOf(`postgres://jetbridge:${encodeURIComponent(password)}@db.example.com/jetbridge`)).toBe(
      undefined,
    );
  },
);

test.each(['disable', 'no-verify', 'require', 'verify-ca', 'verify-full'])(
  'sslmode=%s is accepted',
  (mode) => {
    expect(faultOf(`postgres://jetbridge:password@db.example.com/jetbridge?sslmode=${mode}`)).toBeUndefined();
  },
);

const MODES =
  'Give verify-full, or require or verify-ca, which are as strict; no-verify, which encrypts without a check; or disable.';

test.each([
  ['sslmode=requir', `has sslmode="requir", which is not known. Did you mean require? ${MODES}`],
  [
    'sslmode=Verify-Full',
    `has sslmode="Verify-Full", which is not known. Did you mean verify-full? ${MODES}`,
  ],
  ['sslmode=no', `has sslmode="no", which is not known. ${MODES}`],
  ['sslmode=', `has sslmode="", which is not known. ${MODES}`],
  ['sslmode=prefer', `has sslmode="prefer", which is not known. ${MODES}`],
  ['sslmode=verify-full&sslmode=no', `has sslmode="no", which is not known. ${MODES}`],
  ['ssl=false', `has ssl="false", which is not known. Give sslmode in its place. ${MODES}`],
])('%s would not mean what it says, and is refused', (parameters, text) => {
  expect(faultOf(`postgres://jetbridge:password@db.example.com/jetbridge?${parameters}`)).toBe(
    `environment DATABASE_URL: ${text}`,
  );
});

test.each([
  ['postgres://u:p@db.example.com/jetbridge', true],
  ['postgres://u:p@db.example.com/jetbridge?sslmode=disable', true],
  ['postgres://u:p@db.example.com/jetbridge?ssl=0', true],
  ['postgres://u:p@10.0.0.7/jetbridge', true],
  ['postgres://u:p@localhost/jetbridge?host=db.example.com', true],
  ['postgres://u:p@db.example.com/jetbridge?sslmode=verify-full', false],
  ['postgres://u:p@db.example.com/jetbridge?sslmode=no-verify', false],
  ['postgres://u:p@db.example.com/jetbridge?ssl=true', false],
  ['postgres://u:p@db.example.com/jetbridge?sslrootcert=/ca.pem', false],
  ['postgres://u:p@localhost/jetbridge', false],
  ['postgres://u:p@127.0.0.2/jetbridge', false],
  ['postgres://u:p@[::1]:5432/jetbridge', false],
  ['postgresql://u@/jetbridge?host=/run/postgresql', false],
])('%s leads to another machine without TLS: %s', (url, expected) => {
  expect(isUnencrypted(url)).toBe(expected);
});

test('a server whose database is at another machine without TLS warns of it at its start', async () => {
  const lines: JsonObject[] = [];
  // An address that is not loopback and leads to this machine, where nothing listens at the port.
  const environment = { DATABASE_URL: 'postgres://u:p@0.0.0.0:1/jetbridge', JETBRIDGE_KEY: KEY };
  const starting = start(readSettings(environment, home), { log: createLog('warn', parseLinesInto(lines)) });
  await expect(starting).rejects.toThrow();
  expect(lines).toMatchObject([
    {
      msg: 'DATABASE_URL leads to another machine without TLS: what is sent there can be read on the way',
      remedy: expect.stringContaining('sslmode=verify-full'),
    },
  ]);
});
