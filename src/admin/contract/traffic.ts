import { z } from 'zod';
import type { Contract } from './operation.ts';
import { id, limit, optionalInteger, optionalText, optionalTime, time } from './schemas.ts';

/** A place in the log of exchanges. */
const position = z
  .string()
  .regex(/^\d{1,15}$/, 'is not a position')
  .describe('A whole number; an exchange that is logged later has a higher one');

const exchangeFields = {
  position,
  direction: z
    .enum(['scim', 'oauth', 'travel'])
    .describe(
      'scim: a request of an IdP to the bridge; oauth: a request for an access token; travel: a call of the bridge to the travel API',
    ),
  at: time.describe('The start of the request'),
  ms: z.number().describe('The duration in milliseconds'),
  connection: optionalText.describe('Absent if the request had no valid token'),
  person: z
    .object({ id: z.string(), name: optionalText })
    .optional()
    .describe('The user whom the exchange is about, without a name if there is no such user any more'),
  requestId: optionalText.describe('A SCIM request and the travel calls that it caused have the same one'),
  method: z.string(),
  path: z.string().describe('Path and query; values that may be secrets are replaced by *'),
  userAgent: optionalText.describe('Of a SCIM request: the program of the IdP'),
  status: optionalInteger.describe('Absent if there was no response; 499: the client left'),
  error: optionalText.describe('The code of the error, or why there is no response, e.g. ECONNREFUSED'),
};

const exchange = z.object(exchangeFields).meta({
  id: 'Exchange',
  description: 'A request and its response, without headers and bodies',
});
export type Exchange = z.input<typeof exchange>;

const message = z.object({
  headers: z.record(z.string(), z.string()).describe('The headers that the log keeps; no credentials'),
  body: z
    .object({ text: z.string(), isCut: z.boolean() })
    .optional()
    .describe('Absent if there was none, or if it was not kept. Secrets are replaced by *'),
});

const exchangeDetail = z
  .object({
    ...exchangeFields,
    request: message,
    response: message,
    related: z.array(exchange).describe('The other exchanges of the same SCIM request, the oldest first'),
  })
  .meta({ id: 'ExchangeDetail', description: 'A request and its response with what the log keeps of them' });
export type ExchangeDetail = z.input<typeof exchangeDetail>;

const loggedConnection = z
  .object({
    id: z.string(),
    travelUrl: optionalText.describe('The origin of the travel API; absent for the embedded travel service'),
    readBodiesUntil: optionalTime.describe('Until then the bodies of reads are kept too'),
  })
  .meta({ id: 'LoggedConnection', description: 'A connection whose exchanges are logged' });

/** The log of exchanges: SCIM requests of IdPs, and calls to travel APIs. */
export const trafficContract = {
  describeExchangeLog: {
    ...{ method: 'get', path: '/traffic', tag: 'Traffic', access: 'viewer' },
    summary: 'Tell how long exchanges are kept, and of which connections',
    result: z.object({
      keepDays: z.int().describe('0: the settings disable the log'),
      connections: z.array(loggedConnection),
    }),
  },
  listExchanges: {
    ...{ method: 'get', path: '/exchanges', tag: 'Traffic', access: 'viewer' },
    summary: 'List exchanges of both directions, newest first',
    query: z.strictObject({
      connection: z.string().max(200).optional(),
      person: z
        .string()
        .max(200)
        .optional()
        .describe('A SCIM id. Searches for the userName and the addresses of that person are found, too'),
      direction: exchangeFields.direction.optional(),
      method: z.string().max(20).optional(),
      status: z
        .enum(['2xx', '3xx', '4xx', '5xx', 'failed'])
        .optional()
        .describe('failed: 400 or higher, and calls without a response'),
      path: z.string().max(500).optional().describe('The beginning of the path, without case'),
      hidesPolls: z
        .enum(['true'])
        .optional()
        .describe(
          'Without the calls that the bridge makes at an interval (event feed, lookups, imports, probes), unless they have failed',
        ),
      since: optionalTime,
      until: optionalTime,
      before: position.optional(),
      after: position.optional().describe('The head of an earlier page: only what came after it'),
      limit,
    }),
    result: z.object({
      exchanges: z.array(exchange),
      next: position
        .optional()
        .describe('The parameter before of the next page. A page can be empty although there is a next one'),
      head: position.describe('The end of the log as it was read'),
    }),
  },
  getExchange: {
    ...{ method: 'get', path: '/exchanges/{position}', tag: 'Traffic', access: 'viewer' },
    summary: 'Read an exchange with its headers and bodies, and the other exchanges of the same request',
    result: exchangeDetail,
  },
  saveScenario: {
    ...{ method: 'post', path: '/scenarios', tag: 'Traffic', access: 'viewer', changesNothing: true },
    summary: 'Convert SCIM requests of the log to scenario files for replay, with invented people',
    body: z.strictObject({
      connection: id,
      person: id.optional().describe('Only the requests about this SCIM id'),
      since: time,
      until: optionalTime,
    }),
    result: z.object({
      scenarios: z
        .array(z.record(z.string(), z.unknown()))
        .describe('Each is the content of a file, named by its member name'),
      leftOut: z.array(z.object({ reason: z.string(), count: z.int() })),
    }),
  },
  keepReadBodies: {
    ...{ method: 'put', path: '/connections/{connection}/read-bodies', tag: 'Traffic', access: 'admin' },
    summary: 'Keep the bodies of reads of a connection too, until a time within the next day',
    body: z.strictObject({ until: time }),
  },
} as const satisfies Contract;
