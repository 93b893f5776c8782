import type { z } from 'zod';
import { chosenConnections, type OperationDeps } from '../../operations/deps.ts';
import type { OperationOutput } from '../../operations/operation.ts';
import { toTime } from '../../operations/schemas.ts';
import { trafficOperations } from '../../operations/traffic/traffic.ts';
import { findPeople } from '../../provisioning/people/explain-person.ts';
import type { CliCommand, JsonFlag } from '../command.ts';
import { listPages, withOperations } from '../operations.ts';
import { findPerson } from '../people/find-person.ts';
import { refuseUnknownCommands } from '../terminal/arguments.ts';
import { addInputOptions } from '../terminal/input-options.ts';
import { escapeLine, printJson } from '../terminal/output.ts';
import {
  addLimitOption,
  addListFlags,
  factLines,
  type ListFlags,
  printList,
  rowLimit,
} from '../terminal/printers.ts';

const { query } = trafficOperations.listExchanges;
const list = [trafficOperations, 'listExchanges', 'exchanges'] as const;

/** Defines the commands `requests list`, which is the default, and `requests show`. */
export function defineRequestsCommands(requests: CliCommand): void {
  refuseUnknownCommands(requests);
  addListCommand(requests);
  addShowCommand(requests);
}

type RequestFlags = ListFlags & z.input<typeof query>;

function addListCommand(requests: CliCommand): void {
  const command = requests
    .command('list', { isDefault: true })
    .description('list them, newest first')
    .option('--connection <id>', 'only this connection')
    .option(
      '--person <person>',
      'only about this person: userName, email address, SCIM id or travel user id',
    );
  const options = {
    since: { description: 'e.g. 15m, 2h, 7d, or 2026-11-20T08:00:00Z' },
    ...{ direction: {}, method: {}, status: {} },
    ...{ path: {}, user: {} },
  };
  addListFlags(addLimitOption(addInputOptions(command, query, options), 'requests'))
    .examples(
      'requests list --since 1h --status 5xx',
      'requests list --person ada@corp.example --direction scim',
      'requests list --user admin@jetbridge.local --json',
    )
    .runs((shell, { csv, json, limit, ...input }: RequestFlags) =>
      withOperations(shell, async (operator) => {
        const flags = { csv, json, limit };
        const person =
          input.person && (await findSoughtPerson(operator.deps, input.person, input.connection));
        const found = { ...input, person, details: json && ('true' as const) };
        await printList(shell, flags, listPages(operator, list, found, rowLimit(flags) + 1), {
          columns,
          table: ['time', 'direction', 'status', 'ms', 'method', 'path', 'personOrUser', 'id'],
          none: 'There are no such requests.',
          hint: '"npx jetbridge requests show ID" shows headers and bodies.',
        });
      }),
    );
}

/** Returns the SCIM id of a person. The log may have requests about people who are gone: of those the name is the id. */
async function findSoughtPerson(deps: OperationDeps, name: string, connection?: string): Promise<string> {
  const [found] = await findPeople(deps.store, chosenConnections(deps, connection), name);
  return found ? (await findPerson(deps, name, connection)).id : name;
}

type Exchange = OperationOutput<typeof trafficOperations.listExchanges>['exchanges'][number];

const columns = {
  time: ({ at }: Exchange) => toTime(at),
  direction: ({ direction }: Exchange) => direction,
  status: ({ status, error }: Exchange) => status ?? error,
  ms: ({ ms }: Exchange) => Math.round(ms),
  method: ({ method }: Exchange) => method,
  path: ({ path }: Exchange) => path,
  connection: ({ connection }: Exchange) => connection,
  personOrUser: ({ person, user }: Exchange) => person?.name ?? person?.id ?? user,
  requestId: ({ requestId }: Exchange) => requestId,
  id: ({ position }: Exchange) => position,
};

function addShowCommand(requests: CliCommand): void {
  requests
    .command('show')
    .description('show requests with their headers and bodies')
    .argument('<id>', 'an id of the list, or an X-Request-Id for a request and all calls that it caused')
    .option('--json', 'one JSON object for each request')
    .examples('requests show 1042', 'requests show 5b0c6d2e-6a4f-4f0e-9b1d-2c3d4e5f6a7b')
    .runs((shell, id: string, { json }: JsonFlag) =>
      withOperations(shell, async ({ call }) => {
        const read = (one: string) => call(trafficOperations, 'getExchange', { id: one });
        const first = await read(id);
        const others = id === first.position ? [] : first.related;
        const found = [first, ...(await Promise.all(others.map(({ position }) => read(position))))];
        found.sort((one, other) => one.at - other.at);
        const { result } = trafficOperations.getExchange;
        if (json) printJson(shell, ...found.map((exchange) => result.encode(exchange)));
        else shell.print(found.map(exchangeText).join('\n\n'));
      }),
    );
}

type ExchangeDetail = OperationOutput<typeof trafficOperations.getExchange>;

/** Formats a request with its headers and bodies. */
function exchangeText(exchange: ExchangeDetail): string {
  const { at, ms, method, path, status, person, direction, connection, requestId, error } = exchange;
  return [
    escapeLine(`${method} ${path} → ${status ?? 'no response'}`),
    ...factLines([
      ['time', `${toTime(at)}, ${ms} ms`],
      ['direction', direction],
      ['connection', connection],
      ['person', person && [person.name, person.id].filter(Boolean).join(', ')],
      ['user', exchange.user],
      ['credential', exchange.credential],
      ['request id', requestId],
      ['error', error],
    ]),
    ...messageLines('request', exchange.request),
    ...messageLines('response', exchange.response),
  ].join('\n');
}

function messageLines(part: string, { headers, body }: ExchangeDetail['request']): string[] {
  const headerLines = Object.entries(headers).map(([name, value]) => escapeLine(`    ${name}: ${value}`));
  const bodyLines = (body ? indentJson(body.text).split('\n') : []).map((line) => `    ${escapeLine(line)}`);
  return [
    ...(headerLines.length > 0 ? [`  ${part} headers`, ...headerLines] : []),
    ...(body ? [`  ${part} body${body.isCut ? ' (its beginning)' : ''}`, ...bodyLines] : []),
  ];
}

/** JSON is indented; anything else stays as it is. */
function indentJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
