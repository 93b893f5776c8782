import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { createProgram, runCommand } from '../../src/cli/cli.ts';
import {
  type CommandPath,
  exampleArguments,
  examplesIn,
  helpOf,
  leafCommands,
  parentCommands,
} from '../fixtures/all-commands.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { recordedShell } from '../fixtures/shell.ts';
import {
  createDatabaseWithoutTables,
  describeOnPostgres,
  describeOnSqlite,
  KEY,
} from '../fixtures/test-database.ts';

const folder = temporaryFolder();
beforeAll(() => {
  writeFileSync(join(folder.path, 'user.json'), JSON.stringify({ userName: 'ada@corp.example' }));
  writeFileSync(join(folder.path, 'my-mapping.json'), JSON.stringify({ scimUserMapping: [] }));
});
afterAll(() => folder.remove());

/** Runs a command line in this process. */
async function run(args: string[], environment: Record<string, string> = {}) {
  const shell = await recordedShell({ JETBRIDGE_DATA: join(folder.path, 'none'), ...environment });
  const code = await runCommand(args, shell);
  return { code, out: shell.out.join('\n'), err: shell.err.join('\n') };
}

describe.each(leafCommands())('npx jetbridge $path', ({ path, command }: CommandPath) => {
  const words = path.split(' ');

  test('has a description, and one of each option, without a full stop', () => {
    const texts = [command.description(), ...command.options.map(({ description }) => description)];
    texts.push(...command.registeredArguments.map(({ description }) => description));
    for (const text of texts) {
      expect(text).toMatch(/^(--)?[a-z].*[^.]$/i);
      expect(text).not.toMatch(/^[A-Z][a-z. ]/);
    }
    expect(command.description()).toMatch(/^[a-z]/);
  });

  test('has help with examples that it accepts', async () => {
    const { code, out, err } = await run([...words, '--help']);
    expect([code, err]).toEqual([0, '']);
    const examples = examplesIn(out);
    expect(examples.length).toBeGreaterThanOrEqual(1);
    expect(examples.length).toBeLessThanOrEqual(3);
    const shell = await recordedShell({});
    for (const example of examples) {
      expect(example.startsWith(path)).toBe(true);
      let calls = 0;
      const program = createProgram(shell, () => async () => {
        calls += 1;
      });
      await program.parseAsync(exampleArguments(example), { from: 'user' });
      expect([example, calls, shell.err]).toEqual([example, 1, []]);
    }
  });

  test('answers a misspelled option with the nearest one, its help, and 2', async () => {
    const option = command.options.at(-1)?.long ?? '--help';
    const misspelled = `${option.slice(0, -1)}x${option.slice(-1)}`;
    const [example = ''] = examplesIn(helpOf(command));
    const { code, out, err } = await run([...exampleArguments(example), misspelled]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`unknown option '${misspelled}'`);
    expect(err).toContain(`Did you mean ${option}?`);
    expect(err).toContain(`See: npx jetbridge ${path} --help`);
  });
});

test.each(parentCommands())(
  'npx jetbridge $path answers a misspelled command with the nearest one and 2',
  async ({ path, command }) => {
    const name = command.commands[0]?.name() ?? '';
    const { code, err } = await run([...path.split(' ').filter(Boolean), `${name}x`]);
    expect(code).toBe(2);
    expect(err).toContain(`unknown command '${name}x'`);
    expect(err).toContain(`Did you mean ${name}?`);
  },
);

test.each(parentCommands())('npx jetbridge $path says where the examples are', async ({ path }) => {
  const { code, out } = await run([...path.split(' ').filter(Boolean), '--help']);
  expect(code).toBe(0);
  const name = ['npx jetbridge', path].filter(Boolean).join(' ');
  expect(out).toContain(`Every command has examples: ${name} <command> --help`);
});

test('a number that is too large is answered with the range', async () => {
  const { code, err } = await run(['requests', 'list', '--limit', '1000000000']);
  expect(code).toBe(2);
  expect(err).toContain('must be a whole number from 1 to 999999999.');
});

test('a recording into a file is refused before it begins', async () => {
  const { code, err } = await run(['record', '--out', join(folder.path, 'user.json')]);
  expect(code).toBe(2);
  expect(err).toContain('must be a folder, and is a file.');
});

describe('without data', () => {
  /** Commands that create the data. */
  const creating = ['serve', 'sample-data', 'restore'];
  /** Commands that need no data, or that tell of its absence among other things. */
  const independent = ['check', 'doctor', 'replay', 'openapi', 'alerts test'];
  /** It has a data folder of its own, and is tested in test/cli/cli.test.ts. */
  const temporary = ['demo'];
  const others = leafCommands().filter(({ path }) => ![...creating, ...temporary].includes(path));

  async function runExample({ path, command }: CommandPath, environment: Record<string, string>) {
    const [example = ''] = examplesIn(helpOf(command));
    const args = exampleArguments(example).map((word) =>
      word.endsWith('.json') ? join(folder.path, word) : word,
    );
    return run([...args, ...confirmationOf(path)], environment);
  }

  describeOnSqlite('in the folder', () => {
    test.each(others)('npx jetbridge $path creates nothing, and says what to do', async (one) => {
      const data = join(folder.path, 'wrong');
      const { code, out, err } = await runExample(one, { JETBRIDGE_DATA: data });
      expect(existsSync(data)).toBe(false);
      if (independent.includes(one.path)) return;
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/There is no (data|database) in .*wrong\. .*JETBRIDGE_DATA/);
    });
  });

  describeOnPostgres('in the database', () => {
    let url: string;
    beforeAll(async () => {
      url = await createDatabaseWithoutTables();
    });

    test.each(others)('npx jetbridge $path creates nothing, and says what to do', async (one) => {
      const { code, out, err } = await runExample(one, { DATABASE_URL: url, JETBRIDGE_KEY: KEY });
      expect(await tablesOf(url)).toEqual([]);
      if (independent.includes(one.path)) return;
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(
        /There is no data in postgres:.*_bare_\w+\. Set DATABASE_URL to the database of the server/,
      );
    });
  });
});

async function tablesOf(connectionString: string): Promise<string[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public'",
    );
    return rows.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** Decisions ask at the terminal before they look for data. */
function confirmationOf(path: string): string[] {
  return /^holds (approve|discard)$/.test(path) ? ['--yes'] : [];
}

describe('--json', () => {
  /** Commands whose output is a log, a document or a story. */
  const without = ['serve', 'openapi', 'demo'];
  let service: RunningService;
  let environment: Record<string, string>;
  beforeAll(async () => {
    service = await startService();
    environment = { JETBRIDGE_DATA: service.data };
    const idp = scimClient(service.url, service.scimToken);
    const users = [{ userName: 'ada@corp.example', active: true }, { userName: 'bob' }];
    for (const user of users) expect((await idp.send('POST', '/Users', user)).status).toBe(201);
  });
  afterAll(() => service.close());

  test('every command with an output has it', () => {
    const missing = leafCommands().filter(({ command }) => !command.options.some((o) => o.long === '--json'));
    expect(missing.map(({ path }) => path)).toEqual(without);
  });

  const mapping = () => join(folder.path, 'my-mapping.json');
  const user = () => join(folder.path, 'user.json');
  /** A command line of each command, its exit code, and a member of its first object; none if it prints nothing. */
  const table: Record<string, { args?: () => string[]; code?: number; member?: string }> = {
    check: { member: 'connections' },
    doctor: { member: 'check' },
    preview: { args: () => ['--input', user()], member: 'fields' },
    'mapping show': { member: 'version' },
    'mapping check': { args: () => [mapping()], member: 'faults' },
    'mapping preview': { args: () => [mapping()], member: 'changed' },
    'mapping history': { member: 'appliedAt' },
    'mapping apply': { args: () => [mapping(), '--yes'], member: 'outcome' },
    'mapping proposed': { code: 1 },
    'mapping restore': { args: () => ['1', '--yes'], member: 'outcome' },
    'people list': { member: 'userName' },
    'people unsent': {},
    'people duplicates': {},
    'people findings': { member: 'value' },
    'people update': { args: () => ['--connection', 'default', '--yes'], member: 'people' },
    'people send-again': { args: () => ['ada@corp.example', '--yes'], member: 'people' },
    'people join': { args: () => ['nobody', 'ada@corp.example', '--yes'], code: 1 },
    explain: { args: () => ['ada@corp.example'], member: 'verdict' },
    replay: {
      args: () => [
        join(__dirname, '../idp/scenarios/entra-test-connection.json'),
        ...['--url', `${service.url}/scim/v2`, '--token', service.scimToken],
      ],
      member: 'outcome',
    },
    'tokens create': { member: 'token' },
    'tokens list': { member: 'id' },
    'tokens revoke': { args: () => ['unknown'], code: 1 },
    'oauth-clients create': { args: () => ['--connection', 'default'], member: 'clientSecret' },
    'oauth-clients list': { member: 'authentication' },
    'oauth-clients revoke': { args: () => ['unknown'], code: 1 },
    'api-keys create': { args: () => ['--user', 'admin@jetbridge.local'], member: 'key' },
    'api-keys list': { member: 'createdAt' },
    'api-keys revoke': { args: () => ['unknown'], code: 1 },
    audit: { member: 'action' },
    'alerts list': { member: 'conditions' },
    'alerts acknowledge': { args: () => ['hold', '--for', '1h'], code: 1 },
    'alerts quiet': { args: () => ['hold', '--for', '1h'], member: 'until' },
    'alerts test': { code: 1 },
    'holds list': {},
    'holds show': { args: () => ['ada@corp.example'], code: 1 },
    'holds approve': { args: () => ['--all', '--yes'], code: 1 },
    'holds discard': { args: () => ['--all', '--yes'], code: 1 },
    'connections list': { member: 'people' },
    'connections mode': { args: () => ['default', 'shadow', '--yes'], member: 'mode' },
    'connections pilot': { args: () => ['default'], member: 'pilot' },
    'shadow report': { member: 'connection' },
    'shadow go-live': { args: () => ['--yes'], member: 'approved' },
    backup: { args: () => [join(folder.path, 'one.backup')], member: 'people' },
    restore: { args: () => [join(folder.path, 'none.backup')], code: 1 },
    restored: { member: 'restored' },
    'connections forget': { args: () => ['default', '--yes'], code: 1 },
    erase: { args: () => ['bob'], code: 1 },
    'requests list': { args: () => ['--direction', 'scim'], member: 'at' },
    'requests show': { args: () => ['unknown'], code: 1 },
    record: { args: () => ['--out', join(folder.path, 'recorded'), '--since', '1h'], member: 'file' },
    'sample-data': { args: () => ['--users', '2', '--trips', '1'], member: 'counts' },
  };

  test.each(leafCommands().filter(({ path }) => ![...without, 'import'].includes(path)))(
    'npx jetbridge $path prints one JSON object in each line',
    async ({ path }) => {
      expect(Object.keys(table)).toContain(path);
      const { args = () => [], code = 0, member } = table[path] ?? {};
      const ran = await run([...path.split(' '), ...args(), '--json'], environment);
      const objects = ran.out === '' ? [] : ran.out.split('\n').map((line) => JSON.parse(line));
      expect([ran.err, ran.code]).toEqual([expect.anything(), code]);
      if (member === undefined) expect(objects).toEqual([]);
      else expect(objects[0]).toHaveProperty(member);
      for (const object of objects) expect(object === null || typeof object !== 'object').toBe(false);
    },
  );
});

test('npx jetbridge import --json prints one JSON object for each connection', async () => {
  const data = { JETBRIDGE_DATA: join(folder.path, 'imported') };
  expect(await run(['sample-data', '--users', '2', '--trips', '0'], data)).toMatchObject({ code: 0 });
  const { code, out } = await run(['import', '--json'], data);
  expect([code, JSON.parse(out)]).toEqual([0, { connection: 'default', read: 3, complete: true }]);
});

test.each([
  [
    'people --finding emailTakn',
    '--finding <code>',
    'Did you mean emailTaken? Allowed choices are attribute',
  ],
  ['people --state held,', '--state <state>', 'Did you mean held? Allowed choices are synced, dirty,'],
  ['requests --direction scmi', '--direction <direction>', 'Did you mean scim? Allowed choices are scim,'],
  ['holds list --cause safetyvalve', '--cause <cause>', 'Did you mean safetyValve? Allowed choices are'],
])('%s is wrong use: the nearest value is suggested, and all are listed', async (line, option, told) => {
  const { code, out, err } = await run(line.split(' '));
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(`option '${option}' argument`);
  expect(err).toContain(told);
});
