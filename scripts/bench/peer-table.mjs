import { overRounds } from './statistics.mjs';
import { spreadCells, tableOf, tableText, verdictText } from './table.mjs';

/**
 * Returns a row for each operation and each database: CPU, statements of SQLite or writes to the socket of PostgreSQL, requests a second, and the
 * ratios to scimgateway and the bare route.
 */
export function peerTable({ measured }) {
  const costs = ['bare us', 'peer us', 'ours us', 'statements', 'sends'];
  const figures = [...costs, 'peer req/s', 'ours req/s', 'x bare', 'x peer: min'];
  const table = tableOf(['operation', 'database', ...figures, 'median', 'max', 'promise'], 2);
  for (const one of measured) for (const who of databasesOf(one)) table.push(line(one, who));
  return tableText(table);
}

/** Returns the table of the travel calls of each request. */
export function peerCallsTable({ measured }) {
  const whos = ['peer', ...databasesOf(measured[0])];
  const table = tableOf(['operation', ...whos], 1 + whos.length);
  for (const { operation, calls } of measured)
    table.push([operation.name, ...whos.map((who) => callsText(calls[who]))]);
  return tableText(table);
}

/** On PostgreSQL a request may cost that much more. */
const OF_POSTGRES = 1.2;

function databasesOf({ rounds: [round] }) {
  return round.map(({ who }) => who).filter((who) => who !== 'bare' && who !== 'peer');
}

function line({ operation, rounds }, who) {
  const median = (of, key, digits = 0) =>
    overRounds(rounds, (round) => costOf(round, of)[key]).median.toFixed(digits);
  const times = (of) => overRounds(rounds, (round) => costOf(round, who).cpu / costOf(round, of).cpu);
  const ofBare = times('bare').median;
  const ofPeer = times('peer');
  const most = Number((operation.most * (who === 'postgres' ? OF_POSTGRES : 1)).toFixed(1));
  return [
    operation.name,
    who,
    ...['bare', 'peer', who].map((of) => median(of, 'cpu')),
    ...['statements', 'sends'].map((key) => median(who, key, 1)),
    ...['peer', who].map((of) => median(of, 'perSecond')),
    ofBare.toFixed(2),
    ...spreadCells(ofPeer),
    `at most ${most} x peer: ${verdictText(ofPeer.median <= most)}`,
  ];
}

function costOf(round, who) {
  return round.find((cost) => cost.who === who);
}

function callsText(calls) {
  const texts = Object.entries(calls).map(([kind, count]) => `${round(count)} ${kind}`);
  return texts.length === 0 ? '-' : texts.join(', ');
}

function round(count) {
  return count < 0.01 ? '<0.01' : Number(count.toFixed(2));
}
