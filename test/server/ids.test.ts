import { timeOrderedId, travelResourceId } from '../../src/server/ids.ts';

describe('ids', () => {
  it('are UUIDs of version 7, which begin with the time in milliseconds', () => {
    const id = timeOrderedId(0x0192_ab12_34cd);
    expect(id).toMatch(/^0192ab12-34cd-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('differ within a millisecond, and sort by the time', () => {
    const early = Array.from({ length: 1_000 }, () => timeOrderedId(1_000));
    expect(new Set(early).size).toBe(1_000);
    expect([...early, timeOrderedId(1_001)].sort().at(-1)).toMatch(/^00000000-03e9-/);
  });

  it('of form A have 24 hexadecimal characters, those of form B are UUIDs, and both begin with the time', () => {
    expect(travelResourceId('A', 0x0192_ab12_34cd)).toMatch(/^0192ab1234cd[0-9a-f]{12}$/);
    expect(travelResourceId('B', 0x0192_ab12_34cd)).toMatch(/^0192ab12-34cd-7[0-9a-f]{3}-[89ab]/);
    expect(travelResourceId('A', 1_000)).not.toBe(travelResourceId('A', 1_000));
  });
});
