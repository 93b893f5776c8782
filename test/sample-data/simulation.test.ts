import fc from 'fast-check';
import { identityOf } from '../../src/sample-data/company.ts';
import { localTime, timeOf } from '../../src/sample-data/places.ts';
import { Addresses, Agenda } from '../../src/sample-data/simulation.ts';
import { timeAfter, workedUntil } from '../../src/sample-data/trips.ts';

it('an agenda gives back what was planned in order of time, then of planning, and nothing at its end or later', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), (times) => {
      const agenda = new Agenda<number>(15);
      for (const [number, time] of times.entries()) agenda.add(time, number);
      const taken = [];
      for (let next = agenda.next(); next; next = agenda.next()) taken.push(next);
      const planned = times.map((time, work) => ({ time, work })).filter(({ time }) => time < 15);
      const inOrder = planned.sort((one, other) => one.time - other.time || one.work - other.work);
      expect(taken.map(({ time, work }) => ({ time, work }))).toEqual(inOrder);
    }),
  );
});

it('what is planned while others are taken comes at its time, too', () => {
  const agenda = new Agenda<string>(100);
  agenda.add(10, 'ten');
  agenda.add(30, 'thirty');
  expect(agenda.next()?.work).toBe('ten');
  agenda.add(20, 'twenty');
  expect([agenda.next()?.work, agenda.next()?.work, agenda.next()]).toEqual(['twenty', 'thirty', undefined]);
});

it('no two people have the same address, whatever they are called', () => {
  const name = fc.oneof(
    fc.constantFrom('Zoë', 'Zoe', 'ZOÉ', 'Müller', 'Mueller', 'Jean-Luc', 'Jean Luc', 'Ødegård', "D'Arc"),
    fc.string({ unit: fc.constantFrom(...'abcdefgéüß -') }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(name, name), { maxLength: 60 }), (people) => {
      const addresses = new Addresses();
      const taken = people.map(([first, last], number) => addresses.take(first, last, number));
      expect(new Set(taken).size).toBe(people.length);
      for (const one of taken) expect(one).toMatch(/^[a-z0-9]+([.-][a-z0-9]+)*$/);
    }),
  );
});

it('an address is the name without accents', () => {
  const addresses = new Addresses();
  expect(addresses.take('Éloïse', 'Lefèvre', 0)).toBe('eloise.lefevre');
  expect(addresses.take('Jürgen', 'Groß', 1)).toBe('juergen.gross');
  expect(addresses.take('Eloise', 'Lefevre', 2)).toBe('eloise.lefevre3');
});

it('people work from Monday to Friday, and no moment of work comes twice', () => {
  const worked = fc.integer({ min: 0, max: 3_000_000_000_000 / 4 });
  fc.assert(
    fc.property(worked, (ms) => {
      const time = timeAfter(ms);
      expect(workedUntil(time)).toBe(ms);
      const date = new Date(time);
      expect([1, 2, 3, 4, 5]).toContain(date.getUTCDay());
      expect(date.getUTCHours()).toBeGreaterThanOrEqual(8);
      expect(date.getUTCHours()).toBeLessThan(18);
    }),
  );
  const friday = Date.UTC(2026, 10, 20, 18);
  expect(workedUntil(friday)).toBe(workedUntil(Date.UTC(2026, 10, 23, 8)));
});

it('no two seeds make the same company', () => {
  const identities = Array.from({ length: 1000 }, (_, seed) => identityOf(seed));
  for (const part of ['name', 'domain', 'code'] as const)
    expect(new Set(identities.map((one) => one[part])).size).toBe(1000);
});

it.each([
  ['Europe/Paris', Date.UTC(2026, 6, 1, 10), Date.UTC(2026, 6, 1, 12)],
  ['Europe/Paris', Date.UTC(2026, 11, 1, 10), Date.UTC(2026, 11, 1, 11)],
  ['America/New_York', Date.UTC(2026, 2, 20, 10), Date.UTC(2026, 2, 20, 6)],
  ['Asia/Singapore', Date.UTC(2026, 11, 31, 20), Date.UTC(2027, 0, 1, 4)],
])('the clocks of %s show the local time, and the local time tells the time', (zone, time, local) => {
  expect(localTime(time, zone)).toBe(local);
  expect(timeOf(local, zone)).toBe(time);
});

it('a local time leads back to its time, but in the hour that the clocks show twice', () => {
  const zone = fc.constantFrom('Europe/Paris', 'Europe/London', 'America/New_York', 'Asia/Singapore');
  const quarter = fc.integer({ min: 1_700_000, max: 2_200_000 }).map((number) => number * 900_000);
  fc.assert(
    fc.property(quarter, zone, (time, name) => {
      const local = localTime(time, name);
      const back = timeOf(local, name);
      expect(localTime(back, name)).toBe(local);
      expect(Math.abs(back - time)).toBeLessThanOrEqual(3_600_000);
    }),
  );
});
