import fc from 'fast-check';
import { companyIdentity } from '../../src/sample-data/company.ts';
import { EmailAddresses } from '../../src/sample-data/context.ts';
import { fromLocalTime, toLocalTime } from '../../src/sample-data/reference-data.ts';
import { idGenerator, loadGenerators, Schedule } from '../../src/sample-data/simulation.ts';

it('a schedule returns its actions in order of time, then of addition, and none at its end or later', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), (times) => {
      const schedule = new Schedule<number>(15);
      for (const [number, time] of times.entries()) schedule.add(time, number);
      const returned = [];
      for (let next = schedule.next(); next; next = schedule.next()) returned.push(next);
      const planned = times.map((time, work) => ({ time, work })).filter(({ time }) => time < 15);
      const inOrder = planned.sort((one, other) => one.time - other.time || one.work - other.work);
      expect(returned.map(({ time, work }) => ({ time, work }))).toEqual(inOrder);
    }),
  );
});

it('an action that is added between two others is returned between them', () => {
  const schedule = new Schedule<string>(100);
  schedule.add(10, 'ten');
  schedule.add(30, 'thirty');
  expect(schedule.next()?.work).toBe('ten');
  schedule.add(20, 'twenty');
  expect([schedule.next()?.work, schedule.next()?.work, schedule.next()]).toEqual([
    'twenty',
    'thirty',
    undefined,
  ]);
});

it('no two people have the same address, whatever their names are', () => {
  const name = fc.oneof(
    fc.constantFrom('Zoë', 'Zoe', 'ZOÉ', 'Müller', 'Mueller', 'Jean-Luc', 'Jean Luc', 'Ødegård', "D'Arc"),
    fc.string({ unit: fc.constantFrom(...'abcdefgéüß -') }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(name, name), { maxLength: 60 }), (people) => {
      const addresses = new EmailAddresses();
      const taken = people.map(([first, last], number) => addresses.take(first, last, number));
      expect(new Set(taken).size).toBe(people.length);
      for (const address of taken) expect(address).toMatch(/^[a-z0-9]+([.-][a-z0-9]+)*$/);
    }),
  );
});

it('an address is the name in ASCII', () => {
  const addresses = new EmailAddresses();
  expect(addresses.take('Éloïse', 'Lefèvre', 0)).toBe('eloise.lefevre');
  expect(addresses.take('Jürgen', 'Groß', 1)).toBe('juergen.gross');
  expect(addresses.take('Eloise', 'Lefevre', 2)).toBe('eloise.lefevre3');
});

it('every seed gives a company of another name, domain and code', () => {
  const identities = Array.from({ length: 1000 }, (_, seed) => companyIdentity(seed));
  for (const part of ['name', 'domain', 'code'] as const)
    expect(new Set(identities.map((one) => one[part])).size).toBe(1000);
});

it.each([
  ['Europe/Paris', Date.UTC(2026, 6, 1, 10), Date.UTC(2026, 6, 1, 12)],
  ['Europe/Paris', Date.UTC(2026, 11, 1, 10), Date.UTC(2026, 11, 1, 11)],
  ['America/New_York', Date.UTC(2026, 2, 20, 10), Date.UTC(2026, 2, 20, 6)],
  ['Asia/Singapore', Date.UTC(2026, 11, 31, 20), Date.UTC(2027, 0, 1, 4)],
])('a time in %s is converted to local time and back', (zone, time, local) => {
  expect(toLocalTime(time, zone)).toBe(local);
  expect(fromLocalTime(local, zone)).toBe(time);
});

it('a local time is converted back to its time, except in the hour that the clocks show twice', () => {
  const zone = fc.constantFrom('Europe/Paris', 'Europe/London', 'America/New_York', 'Asia/Singapore');
  const quarter = fc.integer({ min: 1_700_000, max: 2_200_000 }).map((number) => number * 900_000);
  fc.assert(
    fc.property(quarter, zone, (time, name) => {
      const local = toLocalTime(time, name);
      const back = fromLocalTime(local, name);
      expect(toLocalTime(back, name)).toBe(local);
      expect(Math.abs(back - time)).toBeLessThanOrEqual(3_600_000);
    }),
  );
});

it('the same seed and purpose give the same random values, another seed or purpose gives others', async () => {
  const draw = async (seed: number, purpose: number) => {
    const random = (await loadGenerators(seed)).forPurpose(purpose);
    return [random.number.int(), random.string.uuid(), random.helpers.shuffle([1, 2, 3, 4, 5, 6, 7, 8])];
  };
  const first = await draw(1, 1);
  expect(await draw(1, 1)).toEqual(first);
  expect(await draw(1, 2)).not.toEqual(first);
  expect(await draw(2, 1)).not.toEqual(first);
});

it('ids have the form of the travel service, are unique, and sort by the simulated time', async () => {
  const { forPurpose } = await loadGenerators(1);
  let now = Date.UTC(2025, 9, 21);
  const newId = idGenerator(forPurpose(1), () => now);
  const ids = { A: [] as string[], B: [] as string[] };
  for (let number = 0; number < 200; number += 1, now += 1_000) {
    ids.A.push(newId('A'));
    ids.B.push(newId('B'));
  }
  for (const id of ids.A) expect(id).toMatch(/^[0-9a-f]{24}$/);
  for (const id of ids.B)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  for (const list of [ids.A, ids.B]) {
    expect(new Set(list).size).toBe(200);
    expect([...list].sort()).toEqual(list);
  }
});
