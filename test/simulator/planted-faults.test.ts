import { seeds } from '../fixtures/runs.ts';
import { type MemoryDatabase, openSimulator } from './memory-database.ts';
import { after, email, expectHistoryKept, faults, join, leave, rest, setActive } from './short-histories.ts';

/**
 * Short histories about orders of events that random histories seldom have. Each was written for a fault that was put into provisioning on
 * purpose, and breaks a promise with it.
 * `planted-faults.slow.test.ts` has more of them.
 */

let database: MemoryDatabase;
beforeAll(async () => {
  database = await openSimulator();
});
afterAll(() => database.close());

it('the traveler of a create whose answer was lost is archived, and not deleted, if the person is deleted at once', () =>
  expectHistoryKept(database, {
    seeds: seeds(1, 2, 3),
    events: [faults('lost'), after(join(0), 100), leave(0), rest],
  }));

it.each([
  ['some time later', [leave(0), rest, join(0, 'other')]],
  ['at once', [leave(0), join(0, 'other')]],
] as const)('a report loses a manager in whose place another person comes %s', (_, events) =>
  expectHistoryKept(database, {
    events: [
      join(0),
      join(1),
      { kind: 'manager', who: 1, of: 0, by: 'userName' },
      rest,
      ...events,
      rest,
      rest,
    ],
  }),
);

it.each([
  ['that has left', [setActive(0, false), rest, email(1, 0)]],
  ['that leaves later', [email(1, 0), rest, setActive(0, false)]],
] as const)('a person gets the address of one %s', (_, events) =>
  expectHistoryKept(database, {
    events: [join(0), join(1), rest, ...events, rest, rest],
  }),
);
