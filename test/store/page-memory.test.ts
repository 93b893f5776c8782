import { PageMemory } from '../../src/store/page-memory.ts';

function fixture() {
  let time = 0;
  return {
    memory: new PageMemory<number>(() => time),
    wait: (ms: number) => {
      time += ms;
    },
  };
}

it('remembers where a page of a list ended, for this list and offset only', () => {
  const { memory } = fixture();
  memory.remember('users', 2000, 7);
  expect(memory.recall('users', 2000)).toBe(7);
  expect([memory.recall('users', 1999), memory.recall('groups', 2000)]).toEqual([undefined, undefined]);
});

it('replaces what it remembered, and forgets it after a minute', () => {
  const { memory, wait } = fixture();
  memory.remember('users', 2000, 7);
  wait(59_999);
  expect(memory.recall('users', 2000)).toBe(7);
  memory.remember('users', 2000, 8);
  wait(59_999);
  expect(memory.recall('users', 2000)).toBe(8);
  wait(1);
  expect(memory.recall('users', 2000)).toBeUndefined();
});

it('holds a thousand positions, and forgets the oldest ones first', () => {
  const { memory } = fixture();
  for (let offset = 0; offset < 1000; offset++) memory.remember('users', offset, offset);
  memory.remember('users', 0, -1);
  memory.remember('users', 1000, 1000);
  expect([memory.recall('users', 0), memory.recall('users', 1), memory.recall('users', 2)]).toEqual([
    -1,
    undefined,
    2,
  ]);
});
