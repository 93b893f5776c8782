import { overRounds } from './statistics.mjs';
import { isMet, tableOf, textOf, threeOf } from './table.mjs';

/** "the same at 1,000 and 1,000,000 users (± 15 %)" (docs/architecture.md, Promises) */
const FLAT = 0.15;

/** Every operation at every size: CPU per request of the server process, and how many times that of the bare route it is. */
export function costsTable(measured) {
  const cpu = ['bare us', 'stock x', 'ours us', 'ours x', 'call us'];
  const table = tableOf(['operation', 'users', ...cpu, 'min', 'median', 'max', 'req/s', 'promise'], 1);
  for (const { operation, rounds } of measured) {
    for (const size of sizesOf(rounds)) table.push(costLine(operation, rounds, size));
  }
  return textOf(table);
}

function costLine(operation, rounds, size) {
  const median = (figure) => overRounds(rounds, figure).median;
  const cpu = (who) => median((round) => costOf(round, who, size).cpu).toFixed(0);
  const judged = overRounds(rounds, (round) => besideCall(round, size));
  return [
    operation.name,
    size,
    cpu('bare'),
    costOf(rounds[0], 'stock') ? median((round) => times(round, 'stock')).toFixed(1) : '-',
    cpu('service'),
    median((round) => times(round, 'service', size)).toFixed(2),
    operation.travel ? cpu('travel') : '-',
    ...threeOf(judged),
    median((round) => costOf(round, 'service', size).perSecond).toFixed(0),
    verdict(operation, judged.median),
  ];
}

/** The cost at each size, times that at the smallest; nothing when there is but one. */
export function flatnessTable(measured) {
  const table = tableOf(['operation', 'users', 'min', 'median', 'max', 'promise'], 1);
  for (const { operation, rounds } of measured) {
    const [smallest, ...others] = sizesOf(rounds);
    const cost = (round, size) => costOf(round, 'service', size).cpu;
    for (const size of others) {
      const ratio = overRounds(rounds, (round) => cost(round, size) / cost(round, smallest));
      const promise = `within ${FLAT * 100} % of ${smallest}: ${isMet(Math.abs(ratio.median - 1) <= FLAT)}`;
      table.push([operation.name, size, ...threeOf(ratio), promise]);
    }
  }
  return table.length > 0 ? textOf(table) : undefined;
}

function sizesOf([round]) {
  return round.filter(({ who }) => who === 'service').map(({ size }) => size);
}

/** Finds a cost of a round. A cost without a size applies to all sizes. */
function costOf(round, who, size) {
  return round.find((cost) => cost.who === who && (cost.size === undefined || cost.size === size));
}

function times(round, who, size) {
  return costOf(round, who, size).cpu / costOf(round, 'bare').cpu;
}

/** A write may cost its travel call besides: what is left of it, times the bare route. */
function besideCall(round, size) {
  const call = costOf(round, 'travel', size)?.cpu ?? 0;
  return (costOf(round, 'service', size).cpu - call) / costOf(round, 'bare').cpu;
}

function verdict({ most, aim }, median) {
  if (most === undefined) return '-';
  const promise = `at most ${most.toFixed(1)}: ${isMet(median <= most)}`;
  return aim ? `${promise} (aim ${aim.toFixed(1)}: ${isMet(median <= aim)})` : promise;
}
