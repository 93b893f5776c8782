import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromSources, launch } from './program.mjs';
import { printProgress } from './progress.mjs';
import { overRounds } from './statistics.mjs';
import { spreadCells, tableOf, tableText } from './table.mjs';

const ROUNDS = 7;
const TIMES = 100;
const PROGRESS_STEP = 100_000;

/** The measured pages: by offset the first, the hundredth and the thousandth, and by cursor one near the end. */
export const LISTS = [
  ...[1, 100, 1000].map((page) => byOffset(`users, page ${page}`, { of: 'users', page })),
  byOffset('users, page 1,000 of 100 each', { of: 'users', page: 1000, query: { limit: '100' } }),
  byOffset('users by email, page 1,000', { of: 'users', page: 1000, query: { sortBy: 'email' } }),
  byOffset('users by email, page 1,000, descending', {
    of: 'users',
    page: 1000,
    query: { sortBy: 'email', order: 'desc' },
  }),
  byOffset('archived users, page 10', { of: 'users', page: 10, query: { archived: 'true' } }),
  byOffset('operations by date, page 1,000', { of: 'operations', page: 1000, query: { sortBy: 'date' } }),
  byOffset('operations of an invoice, page 1,000', { of: 'operations', under: true, page: 1000 }),
  byOffset('events, page 1,000', { of: 'events', page: 1000 }),
  { name: 'events by cursor, 95 % in', of: 'events', depth: 0.95 },
  { name: 'events by cursor, descending, 95 % in', of: 'events', depth: 0.95, query: { order: 'desc' } },
  { name: 'operations by cursor, 95 % in', of: 'operations', depth: 0.95 },
  {
    name: 'operations by date, by cursor, 95 % in',
    of: 'operations',
    depth: 0.95,
    query: { sortBy: 'date' },
  },
  { name: 'operations of an invoice, by cursor, 95 % in', of: 'operations', under: true, depth: 0.95 },
  {
    name: 'operations of an invoice by date, by cursor, 95 % in',
    ...{ of: 'operations', under: true, depth: 0.95, query: { sortBy: 'date' } },
  },
];

function byOffset(name, { page, query = {}, ...rest }) {
  return { name, ...rest, query, offset: (page - 1) * Number(query.limit ?? 10) };
}

/** Measures the cost of pages of the travel service's collections at each size, in microseconds of CPU, round by round. */
export async function measureLists(place, sizes) {
  const contenders = [];
  for (const size of sizes) contenders.push({ size, program: await filled(place, size) });
  const measured = [];
  for (const { name } of LISTS) {
    printProgress(`lists: ${name}`);
    const rounds = [];
    // The first round warms up, and is not counted.
    for (let round = 0; round <= ROUNDS; round += 1) {
      const costs = [];
      for (const { program } of contenders)
        costs.push(await program.call({ page: name, times: TIMES }, 'paged'));
      if (round > 0) rounds.push(costs);
    }
    measured.push({ name, rounds });
  }
  return { sizes, measured };
}

/** Returns a row for each list: its cost at the smallest size, and the ratios of the other sizes to it. */
export function listsTable({ sizes, measured }) {
  const [smallest, ...others] = sizes;
  const columns = others.flatMap((size) => [`${size}: min`, 'median', 'max']);
  const table = tableOf(['', `us at ${smallest}`, ...columns], 1);
  for (const { name, rounds } of measured) {
    const first = overRounds(rounds, (costs) => costs[0]).median.toFixed(0);
    const ratios = others.flatMap((_size, n) =>
      spreadCells(overRounds(rounds, (costs) => costs[n + 1] / costs[0])),
    );
    table.push([name, first, ...ratios]);
  }
  return tableText(table);
}

async function filled(place, size) {
  const folder = join(place.data, `lists-${size}`);
  const complete = join(folder, 'complete');
  // An interrupted run leaves an incomplete folder.
  if (!existsSync(complete)) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const program = launch(place, {
    words: [...fromSources('listing.mjs'), folder, String(size)],
    name: `lists-${size}`,
  });
  printProgress(`lists of ${size}: filling`);
  program.onMessage(({ seeded }) => {
    if (seeded && seeded % PROGRESS_STEP === 0) printProgress(`  ${seeded} of ${size}`);
  });
  await program.receive('ready');
  writeFileSync(complete, '');
  return program;
}
