import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CliCommand } from '../../src/cli/command.ts';
import { defineRecordCommand, type RecordFlags, record } from '../../src/cli/traffic/record.ts';
import type { ExchangeSource, RecordedExchange } from '../../src/replay/exchanges.ts';
import { readScenarios } from '../../src/replay/scenario.ts';
import { createDatabaseIn } from '../fixtures/data-folder.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { recordedShell } from '../fixtures/shell.ts';

const NOW = Date.parse('2026-11-20T08:00:00Z');

/** A log of exchanges that is a list; a position is an index of it. */
function listSource(log: RecordedExchange[]): ExchangeSource & { keptUntil: number[] } {
  const keptUntil: number[] = [];
  return {
    keptUntil,
    read: async (connection, from) => {
      const own = log.filter((one) => one.connection === connection);
      const exchanges =
        'after' in from ? own.slice(Number(from.after)) : own.filter(({ at }) => at >= from.since);
      return { exchanges, position: String(own.length) };
    },
    keepReadBodies: async (_, until) => {
      keptUntil.push(until);
    },
  };
}

const search = (at: number, connection = 'default'): RecordedExchange => ({
  at,
  connection,
  method: 'GET',
  path: '/Users?filter=userName%20eq%20%22ada@corp.com%22',
  requestHeaders: {},
  status: 200,
  responseHeaders: {},
});

describe('jetbridge record', () => {
  const folder = temporaryFolder();
  beforeAll(() => createDatabaseIn(join(folder.path, 'data')));
  afterAll(() => folder.remove());

  /** Runs a command line of `record` alone, on an empty database. */
  async function runCommand(args: string[], log: RecordedExchange[]) {
    const shell = await recordedShell({ JETBRIDGE_DATA: join(folder.path, 'data') });
    let code: number | undefined;
    const program = new CliCommand('npx jetbridge', shell, (work) => async (...values) => {
      code = await work(...values);
    });
    defineRecordCommand(program.exitOverride().command('record'), () => listSource(log));
    await program.parseAsync(['record', ...args], { from: 'user' });
    return { code, shell };
  }

  test('reads the log of the connection that it is given', async () => {
    const log = [search(Date.now() - 1_000, 'default'), search(Date.now() - 1_000, 'other')];
    const { code, shell } = await runCommand(
      ['--out', join(folder.path, 'own'), '--since', '1h', '--json'],
      log,
    );
    expect(code).toBe(0);
    expect(shell.out.map((line) => JSON.parse(line).steps)).toEqual([1]);
  });

  test('a connection that is not in the settings is told, with the names of the others', async () => {
    const { code, shell } = await runCommand(['--out', 'x', '--since', '1h', '--connection', 'acme'], []);
    expect(code).toBe(1);
    expect(shell.err).toEqual(['There is no connection acme; the settings have default.']);
  });

  /** Records from a log that receives another request at each pause, until `ticks` pauses have passed. */
  async function run(log: RecordedExchange[], flags: Partial<RecordFlags>, ticks: number) {
    const shell = await recordedShell({});
    const source = listSource(log);
    const out = join(folder.path, String(readdirSync(folder.path).length));
    let now = NOW;
    let passed = 0;
    const code = await record(
      shell,
      { connection: 'default', out, ...flags },
      {
        source,
        now: () => now,
        isEnded: () => passed >= ticks,
        pause: async (ms) => {
          passed += 1;
          now += ms;
          log.push(search(now - 1), search(now - 1, 'other'));
        },
      },
    );
    return { code, shell, out, source };
  }

  test('records what arrives until it is ended, and what the log receives a little later', async () => {
    const { code, shell, out } = await run([search(NOW - 1), search(NOW, 'other')], {}, 3);
    expect(code).toBe(0);
    expect(readdirSync(out)).toEqual(['scim-2026-11-20-0800.json']);
    const [scenario] = readScenarios(out);
    expect(scenario?.steps).toHaveLength(4);
    expect(JSON.stringify(scenario)).not.toMatch(/ada|corp/);
    expect(shell.out.join('\n')).toContain('scim-2026-11-20-0800.json');
    expect(shell.err).toEqual(['Recording the requests of default. Ctrl-C ends it.']);
  });

  test('services keep the bodies of reads while a recording runs, and no longer', async () => {
    const { source } = await run([], {}, 50);
    expect(source.keptUntil[0]).toBe(NOW + 60_000);
    expect(source.keptUntil.length).toBeGreaterThan(2);
    expect(source.keptUntil.at(-1)).toBe(NOW + 52_000);
  });

  test('--for ends by itself', async () => {
    const { out } = await run([], { for: 5_000 }, Number.POSITIVE_INFINITY);
    expect(readScenarios(out)[0]?.steps).toHaveLength(5);
  });

  test('--since records the past from the log and ends at once', async () => {
    const log = [search(NOW - 7_200_000), search(NOW - 3_000_000), search(NOW - 1_000)];
    const { out, shell } = await run(log, { since: NOW - 3_600_000, json: true }, 0);
    expect(shell.out.map((line) => JSON.parse(line))).toEqual([
      { file: join(out, 'scim-2026-11-20-0710.json'), steps: 1 },
      { file: join(out, 'scim-2026-11-20-0759.json'), steps: 1 },
    ]);
  });

  test('a time without requests writes nothing and says so', async () => {
    const { code, shell, out } = await run([], { since: NOW - 1_000 }, 0);
    expect(code).toBe(0);
    expect(shell.err).toEqual(['There are no requests of default in that time; nothing was written.']);
    expect(readdirSync(folder.path)).not.toContain(out);
  });

  test('a file that is there already stays', async () => {
    const first = await run([search(NOW - 1)], { since: NOW - 10 }, 0);
    await run([search(NOW - 1)], { since: NOW - 10, out: first.out }, 0);
    expect(readdirSync(first.out)).toEqual(['scim-2026-11-20-0759-2.json', 'scim-2026-11-20-0759.json']);
  });

  test('what cannot be played again is told', async () => {
    const log = [search(NOW - 3), { ...search(NOW - 2), status: 503 }, { ...search(NOW - 1), status: 429 }];
    const { shell } = await run(log, { since: NOW - 10 }, 0);
    expect(shell.err).toEqual(['2 requests were left out: the service was overloaded or out of order.']);
  });
});
