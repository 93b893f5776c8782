import { seeds } from '../fixtures/runs.ts';
import type { MappingName } from '../histories/mappings.ts';
import type { Event } from './events.ts';
import { type MemoryDatabase, openSimulator } from './memory-database.ts';
import { after, email, expectHistoryKept, faults, join, leave, rest, setActive } from './short-histories.ts';

/** Further short histories like those of `planted-faults.test.ts`. */

let database: MemoryDatabase;
beforeAll(async () => {
  database = await openSimulator();
});
afterAll(() => database.close());

const valve = { share: 0, minimum: 1, windowMs: 3_600_000 };

it('with reclaimEmail, a leaver whose departure was discarded, and who is archived by hand, gives the address up', () =>
  expectHistoryKept(database, {
    seeds: seeds(1, 2, 3, 4, 5),
    policies: { safetyValve: valve },
    events: [
      ...[join(0), join(1), join(2), join(3), rest, setActive(2, false), rest, setActive(0, false), rest],
      ...[{ kind: 'edit', who: 0, field: 'archived' } as const, rest, email(1, 0), rest, rest],
    ],
  }));

it.each(['PATCH', 'DELETE'] as const)(
  'a %s that would end the own user changes nothing while the travel API throttles',
  (end) => {
    const endOwn = { kind: 'ownUser', connection: 'default', end } as const;
    const throttled = faults('status503', 'status503', 'status503', 'status503');
    return expectHistoryKept(database, {
      events: [endOwn, rest, throttled, join(0), after(join(1), 300), endOwn, rest],
    });
  },
);

it('a failed attempt in shadow mode leaves what is stored', () =>
  expectHistoryKept(database, {
    setup: { hasFeed: true },
    policies: { drift: 'correct' },
    events: [
      ...[join(0), join(1), rest, after({ kind: 'shadow', connection: 'default' }, 16_000)],
      ...[faults('pass', 'pass', 'status500', 'status500', 'status500')],
      ...[
        { kind: 'edit', who: 0, field: 'firstName' } as const,
        after(setActive(0, false), 4_000),
        rest,
        rest,
      ],
    ],
  }));

it('departures that an admin has approved by going live are carried out', () =>
  expectHistoryKept(database, {
    policies: { safetyValve: valve },
    events: [
      ...[join(0), join(1), join(2), join(3), rest, after({ kind: 'shadow', connection: 'default' }, 9_000)],
      ...[leave(0), leave(1), after(leave(2), 15_000), rest, rest],
    ],
  }));

it('an admin is told of an attribute whose name is misspelt', () => {
  const misspelt = { kind: 'misspell', who: 0 } as const;
  return expectHistoryKept(database, {
    events: [join(0), misspelt, rest, misspelt, setActive(0, false), misspelt, rest],
  });
});

it('an admin is told of two active users of one person', () =>
  expectHistoryKept(database, {
    events: [join(0), rest, { kind: 'secondUser', who: 1, of: 0 }, rest, setActive(0, false), rest],
  }));

it('a mapping file stays in force while its process runs, whatever former file another process has', () => {
  const file = (replica: number, name: MappingName) => ({ kind: 'mappingFile', replica, name }) as const;
  return expectHistoryKept(database, {
    setup: { replicas: 2 },
    events: [
      ...[after(file(0, 'capitals'), 20_000), after(file(1, 'capitals'), 20_000), after(join(0), 2_000)],
      ...[after(file(0, 'departmentAsTitle'), 7 * 60_000), rest],
      ...[after(file(1, 'departmentAsTitle'), 20_000), rest],
    ],
  });
});

it.each(['defaults', 'keepStrangersToStaff'] as const)(
  'a preview of %s counts those as created who get a traveler by it, and nobody else',
  (next) => {
    const change = (name: MappingName) => ({ kind: 'mapping', name }) as const;
    const staff: Event['what'] = { kind: 'group', slot: 4, act: 'add', name: 0, who: [1] };
    return expectHistoryKept(database, {
      events: [
        ...[join(1), after(staff, 1_000), change('keepStrangersToStaff'), rest],
        ...[join(0), change(next), rest, rest],
      ],
    });
  },
);

it('after an outage, people for whom there is nothing to send do not delay the others', () => {
  const update = (who: number, set: object) => ({ kind: 'update', who, via: 'patch', set }) as const;
  return expectHistoryKept(database, {
    events: [
      ...[
        join(0),
        join(1),
        join(2),
        join(3),
        rest,
        faults('status503'),
        after(update(0, { givenName: 1 }), 1_000),
      ],
      ...[update(1, { title: 0 }), update(2, { title: 0 }), update(3, { title: 0 }), rest],
    ],
  });
});

it('a user whose create got 409 is tried again if the address is given up before the search for its traveler', () =>
  expectHistoryKept(database, {
    seeds: seeds(1, 2, 3),
    events: [
      // The late call gives the address of the joiner to the traveler of another person, which the bridge does not know yet.
      ...[join(1), rest, faults('pass', 'late'), after(email(1, 5), 11_000), after(email(1, 1), 28_300)],
      // The second create gets 409. While the search takes long, a write of the other person reads its traveler and corrects the address.
      ...[faults('bare403', 'pass', 'slow'), after(join(5), 2_000)],
      ...[after({ kind: 'update', who: 1, via: 'patch', set: { givenName: 1 } }, 15_000), rest],
    ],
  }));

it.each(['before', 'after'] as const)(
  'a member who is lost with one whom the IdP deleted just %s it added both keeps the value for two hours at most',
  (order) => {
    const site = (act: 'add' | 'put', name: number, who: number[]) =>
      ({ kind: 'group', slot: 3, act, name, who }) as const;
    const added = site('add', 0, [0, 1]);
    return expectHistoryKept(database, {
      events: [
        ...[{ kind: 'mapping', name: 'sites' } as const, join(0), join(1), join(2), rest],
        ...(order === 'before' ? [leave(1), added, rest] : [added, leave(1), rest]),
        ...[site('put', 1, [2]), rest, rest],
      ],
    });
  },
);
