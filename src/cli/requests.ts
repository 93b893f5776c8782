import { foldCase } from '../schema/case-fold.ts';
import type { Database } from '../store/database.ts';
import { requestLog } from '../store/request-log.ts';
import { travelResources } from '../store/travel-resources.ts';
import type { LoggedRequest, RequestLogQuery, TravelReading } from '../travel/ports.ts';
import { withDatabase } from './database.ts';
import type { Shell } from './exit.ts';
import { inLine, jsonLine, tableOf } from './output.ts';

/** The longest path that a table shows whole. */
const PATH = 80;
const PAGE = 200;

/** What an administrator looks for in the request log. */
export interface RequestsAsked extends Pick<RequestLogQuery, 'since' | 'path'> {
  status?: RequestLogQuery['statuses'];
  /** An email address, or an id. */
  user?: string;
  limit: number;
  json?: true;
}

/** Prints the newest requests to the embedded travel service that are as asked for; works beside a running server. */
export function showRequests(shell: Shell, asked: RequestsAsked): Promise<0 | 1> {
  return withDatabase(shell, async (database) => {
    const reading = travelResources(database);
    const { since, path, status: statuses, user, limit } = asked;
    const userId = user === undefined ? undefined : await idOf(reading, user);
    if (user !== undefined && userId === undefined) {
      shell.complain(
        `There is no user with the address ${inLine(user)}. Of one who was deleted, give the id.`,
      );
      return 1;
    }
    const query = { since, path, statuses, userId };
    const { requests, isAll } = await newest(database, { query, limit });
    if (asked.json) for (const request of requests) shell.print(jsonOf(request));
    else if (requests.length > 0) shell.print(await table(reading, requests));
    if (requests.length === 0) shell.complain('There are no such requests.');
    if (!isAll) shell.complain(`These are the newest ${limit}; --limit shows more.`);
    return 0;
  });
}

async function idOf(reading: TravelReading, user: string): Promise<string | undefined> {
  if (!user.includes('@')) return user;
  const [found] = await reading.find({ type: 'user', name: 'email', values: [foldCase(user)] });
  return found?.id;
}

/** A page may hold fewer than there are, so it is asked on until there are enough or no more. */
async function newest(
  database: Database,
  { query, limit }: { query: Omit<RequestLogQuery, 'limit'>; limit: number },
): Promise<{ requests: LoggedRequest[]; isAll: boolean }> {
  const log = requestLog(database);
  const requests: LoggedRequest[] = [];
  let after: string | undefined;
  do {
    // One more than is shown tells whether there are more.
    const size = Math.min(PAGE, limit + 1 - requests.length);
    const page = await log.list({ ...query, limit: size, after });
    requests.push(...page.requests);
    after = page.next;
  } while (after !== undefined && requests.length <= limit);
  return { requests: requests.slice(0, limit), isAll: requests.length <= limit };
}

function jsonOf({ time, ...request }: LoggedRequest): string {
  return jsonLine({ time: new Date(time).toISOString(), ...request });
}

async function table(reading: TravelReading, requests: LoggedRequest[]): Promise<string> {
  const ids = [...new Set(requests.flatMap(({ userId }) => userId ?? []))];
  const users = await reading.read(ids.map((id) => ({ type: 'user', id })));
  const names = new Map(users.map(({ id, doc }) => [id, String(doc['email'])]));
  const rows = requests.map(({ time, status, ms, method, path, userId, requestId }) => [
    new Date(time).toISOString().slice(0, 19).replace('T', ' '),
    String(status),
    String(ms),
    method,
    path.length > PATH ? `${path.slice(0, PATH)}…` : path,
    userId === undefined ? '-' : (names.get(userId) ?? userId),
    requestId,
  ]);
  return tableOf(['time (UTC)', 'status', 'ms', 'method', 'path', 'user', 'request id'], rows);
}
