import { overRounds } from './statistics.mjs';
import { spreadCells, tableOf, tableText, verdictText } from './table.mjs';

/** Look-ups, first pages and writes cost the same at any size, within 15 %; a page by index may cost what OFFSET costs (docs/performance.md). */
const FLAT = 0.15;

/** Returns a table of the CPU time per request of each operation at each size, and of its ratio to that of the bare route. */
export function costsTable(measured) {
  const cpu = ['bare us', 'stock x', 'ours us', 'statements', 'call us'];
  const table = tableOf(['operation', 'users', ...cpu, 'min', 'median', 'max', 'req/s'], 1);
  for (const { operation, rounds } of measured) {
    for (const size of sizesOf(rounds)) table.push(costLine(operation, rounds, size));
  }
  return tableText(table);
}

function costLine(operation, rounds, size) {
  const median = (figure) => overRounds(rounds, figure).median;
  const cpu = (who) => median((round) => costOf(round, who, size).cpu).toFixed(0);
  const judged = overRounds(rounds, (round) => times(round, 'service', size));
  return [
    operation.name,
    size,
    cpu('bare'),
    costOf(rounds[0], 'stock') ? median((round) => times(round, 'stock')).toFixed(1) : '-',
    cpu('service'),
    median((round) => costOf(round, 'service', size).statements).toFixed(1),
    operation.travel ? cpu('travel') : '-',
    ...spreadCells(judged),
    median((round) => costOf(round, 'service', size).perSecond).toFixed(0),
  ];
}

/** Returns a table of the ratios of the cost at each size to that at the smallest; undefined if there is only one size. */
export function flatnessTable(measured) {
  const table = tableOf(['operation', 'users', 'min', 'median', 'max', 'promise'], 1);
  for (const { operation, rounds } of measured) {
    const [smallest, ...others] = sizesOf(rounds);
    const cost = (round, size) => costOf(round, 'service', size).cpu;
    for (const size of others) {
      const ratio = overRounds(rounds, (round) => cost(round, size) / cost(round, smallest));
      const isFlat = Math.abs(ratio.median - 1) <= FLAT;
      const promise = `within ${FLAT * 100} % of ${smallest}: ${verdictText(isFlat)}`;
      table.push([operation.name, size, ...spreadCells(ratio), operation.isFar ? '-' : promise]);
    }
  }
  return table.length > 0 ? tableText(table) : undefined;
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
