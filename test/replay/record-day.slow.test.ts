import { readdirSync, readFileSync } from 'node:fs';
import { runCommand } from '../../src/cli/cli.ts';
import { exchangeReader } from '../../src/log/search.ts';
import { readScenarios } from '../../src/replay/scenario.ts';
import { openDatabase } from '../../src/store/sql/open-database.ts';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import {
  findOriginals,
  type PlayedDay,
  personalValues,
  playDay,
  scenariosOf,
  withNumberedTexts,
} from '../fixtures/recorded-days.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { recordedShell } from '../fixtures/shell.ts';
import { createSeed, createTravelResources } from '../idp/travel-service.ts';

describe.each(['okta', 'entra'])('a day of %s, recorded by "jetbridge record" from the log', (idp) => {
  const folder = temporaryFolder();
  let service: RunningService;
  let day: PlayedDay;
  /** The files in the order of their requests. */
  let files: string[];
  beforeAll(async () => {
    service = await startService();
    await keepReadBodies();
    const since = new Date().toISOString();
    const seedEmail = 'sam.seed@corp.example';
    await createSeed(service, seedEmail);
    const variables = { ...(await createTravelResources(service)), seedEmail };
    day = await playDay(service, scenariosOf(idp), variables);
    // The log is written shortly after the answers.
    await eventually(async () => {
      const listed = await run(
        'requests',
        'list',
        '--direction',
        'scim',
        '--since',
        since,
        '--limit',
        '100000',
        '--json',
      );
      expect(listed).toHaveLength(day.exchanges.length);
    });
    const written = await run('record', '--out', folder.path, '--since', since, '--json');
    files = written.map((line) => JSON.parse(line).file);
  }, 300_000);
  afterAll(async () => {
    await service.close();
    folder.remove();
  });

  /** Waits until the service keeps the bodies of reads, as a running recording asks for. */
  async function keepReadBodies(): Promise<void> {
    const database = await openDatabase(service.settings, { exclusive: false });
    const log = exchangeReader(database);
    await log.keepReadBodies('default', Date.now() + 3_600_000);
    const headers = { Authorization: `Bearer ${service.scimToken}` };
    await eventually(async () => {
      await (await fetch(`${service.url}/scim/v2/Users?count=1`, { headers })).text();
      const { exchanges } = await log.list({ connection: 'default', method: 'GET', limit: 1 });
      const read = await log.get(exchanges[0]?.position ?? '0');
      expect(read?.responseBody).toBeDefined();
    });
    await database.close();
  }

  /** Runs a command beside the service and returns the lines of its output. */
  async function run(...args: string[]): Promise<string[]> {
    const shell = await recordedShell({ JETBRIDGE_DATA: service.data });
    expect([await runCommand(args, shell), shell.err]).toEqual([0, expect.anything()]);
    return shell.out;
  }

  test('passes on an empty service, with equal answers but for the invented values', async () => {
    const scenarios = files.flatMap(readScenarios);
    const empty = await startService();
    const played = await playDay(empty, scenarios).finally(empty.close);
    expect(played.mismatches).toEqual([]);
    const steps = scenarios.flatMap((scenario) => scenario.steps);
    const again = played.exchanges.filter((_, index) => steps[index]?.note === undefined);
    // The log does not know the connection of a request without a valid token.
    const original = day.exchanges.filter(({ status }) => status !== 401);
    expect(again).toHaveLength(original.length);
    // Each file creates the people that it needs, with other ids than the file before.
    let start = 0;
    for (const scenario of scenarios) {
      const end = start + scenario.steps.filter(({ note }) => note === undefined).length;
      expect(withNumberedTexts(again.slice(start, end))).toEqual(
        withNumberedTexts(original.slice(start, end)),
      );
      start = end;
    }
  }, 300_000);

  test('has no value of a person, group or secret of that day in its files', () => {
    const text = files.map((file) => readFileSync(file, 'utf8')).join('\n');
    expect(text.length).toBeGreaterThan(10_000);
    expect(personalValues(day.exchanges).length).toBeGreaterThan(100);
    expect(findOriginals(`${readdirSync(folder.path).join(' ')} ${text}`, day.exchanges)).toEqual([]);
    expect(text).not.toContain(service.scimToken);
  });
});
