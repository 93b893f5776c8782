import fc from 'fast-check';
import { companyIdentity } from '../../src/sample-data/company.ts';
import { cities, localDateTime } from '../../src/sample-data/reference-data.ts';
import { idGenerator, LENGTH, loadGenerators, Schedule } from '../../src/sample-data/simulation.ts';

it('processes go on in order of time, then of addition, and none at the end or later', async () => {
  const begin = 1_000_000;
  const anyTimes = fc.array(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 3 }));
  await fc.assert(
    fc.asyncProperty(anyTimes, async (processes) => {
      const end = begin + 15;
      const schedule = new Schedule(end);
      schedule.now = begin;
      const seen: number[] = [];
      async function* process(waits: number[]) {
        for (const wait of waits) {
          yield schedule.now + wait;
          seen.push(schedule.now);
        }
      }
      for (const waits of processes) schedule.add(process(waits));
      while (await schedule.runNext());
      const planned = processes.flatMap((waits) => {
        let at = begin;
        return waits.map((wait) => {
          at += wait;
          return at;
        });
      });
      expect(seen).toEqual(planned.filter((at) => at < end).sort((one, other) => one - other));
    }),
  );
  expect(new Schedule(LENGTH).now).toBe(0);
});

it('of two processes with the same time, the one that was added first goes on first', async () => {
  const schedule = new Schedule(LENGTH);
  const seen: string[] = [];
  async function* say(word: string) {
    yield 20;
    seen.push(word);
  }
  for (const word of ['one', 'two', 'three']) schedule.add(say(word));
  while (await schedule.runNext());
  expect(seen).toEqual(['one', 'two', 'three']);
});

it('every seed gives a company of another name and domain', () => {
  const identities = Array.from({ length: 1000 }, (_, seed) => companyIdentity(seed));
  for (const part of ['name', 'domain'] as const)
    expect(new Set(identities.map((one) => one[part])).size).toBe(1000);
});

it.each([
  ['Paris', Date.UTC(2026, 6, 1, 10), '2026-07-01T12:00:00'],
  ['Paris', Date.UTC(2026, 11, 1, 10), '2026-12-01T11:00:00'],
  ['New York', Date.UTC(2026, 2, 20, 10), '2026-03-20T06:00:00'],
  ['Singapore', Date.UTC(2026, 11, 31, 20), '2027-01-01T04:00:00'],
])('the clocks of %s show the local time', (name, time, shown) => {
  const city = cities.find((one) => one.name === name);
  expect(city && localDateTime(time, city)).toBe(shown);
});

it('the same seed gives the same random values, another seed gives others', async () => {
  const draw = async (seed: number, idSeed?: number) => {
    const { random, localNames, ids } = await loadGenerators(seed, idSeed);
    return {
      values: [random.number.int(), random.helpers.shuffle([1, 2, 3, 4, 5, 6, 7, 8])],
      names: [localNames('FR').person.fullName(), localNames('DE').person.fullName()],
      ids: [ids.string.uuid(), ids.string.uuid()],
    };
  };
  const first = await draw(1);
  expect(await draw(1)).toEqual(first);
  expect(await draw(1, 2)).toEqual({ ...first, ids: expect.not.arrayContaining(first.ids) });
  expect((await draw(2)).values).not.toEqual(first.values);
});

it('ids have the form of the travel service, are unique, and sort by the simulated time', async () => {
  const generators = await loadGenerators(1);
  let now = Date.UTC(2025, 9, 21);
  const newId = idGenerator(generators.ids, () => now);
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
