import { showRequest } from '../../src/cli/requests.ts';
import { readSettings } from '../../src/config/settings.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { requestLog } from '../../src/store/request-log.ts';
import type { LoggedRequest } from '../../src/travel/ports.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { type RecordedShell, recordedShell } from '../fixtures/shell.ts';

const START = Date.parse('2026-01-02T03:04:05Z');

let service: RunningService;
let shell: RecordedShell;
beforeAll(async () => {
  service = await startService();
  shell = await recordedShell({ JETBRIDGE_DATA: service.data });
});
afterAll(() => service.close());

/** Adds the requests with these numbers to the request log, one in each second. */
async function addRequests({ from: first, to }: { from: number; to: number }): Promise<void> {
  const count = to - first + 1;
  const requests = Array.from(
    { length: count },
    (_, index): LoggedRequest => ({
      ...{ time: START + (first + index) * 1_000, ms: 1, method: 'GET', path: '/api/users', status: 200 },
      ...{ userId: undefined, credential: undefined, requestId: `r${first + index}` },
      ...{ requestBody: undefined, responseBody: undefined },
    }),
  );
  const database = await openDatabase(readSettings(shell.environment, shell.home), { exclusive: false });
  for (let from = 0; from < count; from += 500)
    await requestLog(database).append(requests.slice(from, from + 500));
  await database.close();
}

/** Runs `requests show` and returns its exit code and what it says on standard error. */
async function show(id: string): Promise<{ code: number; errors: string }> {
  const code = await showRequest(shell, id, {});
  return { code, errors: shell.err.splice(0).join('\n') };
}

test('a search for a request id says that older requests to the travel service were not searched', async () => {
  await addRequests({ from: 1, to: 10_000 });
  expect(await show('r1')).toEqual({ code: 0, errors: '' });
  await addRequests({ from: 10_001, to: 10_001 });
  const { code, errors } = await show('r1');
  expect(code).toBe(1);
  const [limit, remedy, result] = errors.split('\n');
  expect(limit).toBe(
    'Only the newest 10,000 requests to the embedded travel service were searched for the id, those since 2026-01-02T03:04:07.000Z.',
  );
  expect(remedy).toContain('npx jetbridge requests --direction api --path /api/users --status 4xx --json');
  expect(result).toBe('There is no request r1; "npx jetbridge requests" lists them.');
});
