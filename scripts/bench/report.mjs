import { costsTable, flatnessTable } from './costs.mjs';
import { cycleTable } from './cycle.mjs';
import { durableTable } from './durable.mjs';
import { fairnessTable } from './fairness.mjs';
import { listsTable } from './lists.mjs';
import { peerCallsTable, peerTable } from './peer-table.mjs';
import { requestLogTable } from './request-log.mjs';
import { overRounds } from './statistics.mjs';
import { spreadCells, tableOf, tableText, verdictText } from './table.mjs';

/** The promises of docs/architecture.md, Promises, that belong to no operation. */
const IMPORT_LEAST = 8_000;
const RESIDENT_MB = new Map([
  [100_000, 220],
  [1_000_000, 350],
]);

/** Returns the report as text: a table for each part, with the promise beside each line. */
export function report({ measured, services, imports, lists, log, durable, cycle, fairness, peer }) {
  const costs = measured.length > 0 ? costsTable(measured) : undefined;
  const parts = [
    ['Server CPU and statements per request; min, median, max: times the bare express route', costs],
    ['The same at any size: times the cost at the smallest', flatnessTable(measured)],
    [
      `Import of ${imports?.size} travelers; min, median, max: times the rate of paging alone`,
      imports && importTable(imports),
    ],
    ['Memory in MB; start in seconds', services.length > 0 ? memoryTable(services) : undefined],
    ['Pages of the travel service; times the cost at the smallest size', lists && listsTable(lists)],
    ['The request log; times the cost without it', log && requestLogTable(log)],
    ['POSTs of 32 clients to the embedded database', durable && durableTable(durable)],
    ['First cycle of 10,000 people, 50 ms for a call of the travel API', cycle && cycleTable(cycle)],
    [
      'Eight connections of 25 requests a second, alone and beside a hanging travel API, a scan and a flood',
      fairness && fairnessTable(fairness),
    ],
    [`CPU per request beside scimgateway ${peer?.version}`, peer && peerTable(peer)],
    ['Travel calls of a request', peer && peerCallsTable(peer)],
  ];
  return parts
    .filter(([, table]) => table !== undefined)
    .map(([heading, table]) => `\n${heading}\n\n${table}\n`)
    .join('');
}

function importTable({ rounds }) {
  const table = tableOf(['', 'a second', 'min', 'median', 'max', 'promise'], 1);
  const perSecond = (key) => overRounds(rounds, (round) => round[key]).median;
  table.push(['paging alone', perSecond('paging').toFixed(0), '', '', '', '']);
  for (const [name, key] of [
    ['first import', 'first'],
    ['import of known people', 'again'],
  ]) {
    const ratio = overRounds(rounds, (round) => round[key] / round.paging);
    const promise = `at least ${IMPORT_LEAST}: ${verdictText(perSecond(key) >= IMPORT_LEAST)}`;
    table.push([name, perSecond(key).toFixed(0), ...spreadCells(ratio), promise]);
  }
  return tableText(table);
}

function memoryTable(services) {
  const memory = ['at rest', 'at the end', 'peak'];
  const start = ['serving', 'imported', 'first import'];
  const table = tableOf(['users', ...memory, ...start, 'promise'], 0);
  for (const { size, atRest, atEnd, startMs, settledMs, firstImport } of services) {
    const most = RESIDENT_MB.get(size);
    const bytes = [atRest.resident, atEnd.resident, atEnd.peak];
    table.push([
      size,
      ...bytes.map((figure) => megabytes(figure).toFixed(0)),
      ...[startMs, settledMs, firstImport?.ms].map((ms) =>
        ms === undefined ? '-' : (ms / 1_000).toFixed(1),
      ),
      most ? `peak below ${most}: ${verdictText(megabytes(atEnd.peak) < most)}` : '-',
    ]);
  }
  return tableText(table);
}

function megabytes(bytes) {
  return bytes / 1_048_576;
}
