import { type Pause, pause, watched } from '../../src/bridge/pause.ts';
import type { TravelFailure } from '../../src/bridge/ports.ts';
import { fakeTravel } from '../support/fake-travel.ts';

const down: TravelFailure = { kind: 'unavailable', text: 'GET /api/users: 503' };

function failing(heed: Pause, times: number, now: number): void {
  for (let time = 0; time < times; time += 1) heed.failed(down, now);
}

describe('the pause of a connection', () => {
  it('begins after five failures in a row, and lasts a second at first', () => {
    const heed = pause();
    failing(heed, 4, 0);
    expect(heed.admits(0)).toBe(true);
    heed.failed(down, 0);
    expect([heed.admits(999), heed.holds(999)]).toEqual([false, true]);
    expect([heed.holds(1_000), heed.admits(1_000)]).toEqual([false, true]);
  });

  it('lasts no longer when many that were under way together fail together', () => {
    const heed = pause();
    failing(heed, 25, 0);
    expect(heed.admits(1_000)).toBe(true);
  });

  it('admits one probe at a time, and doubles with each that fails, up to half a minute', () => {
    const heed = pause();
    failing(heed, 5, 0);
    let now = 0;
    for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      expect(heed.admits(now + wait - 1)).toBe(false);
      now += wait;
      expect([heed.admits(now), heed.admits(now)]).toEqual([true, false]);
      heed.failed(down, now);
    }
  });

  it('ends with the first success', () => {
    const heed = pause();
    failing(heed, 25, 0);
    heed.succeeded();
    expect([heed.admits(0), heed.admits(0)]).toEqual([true, true]);
    failing(heed, 4, 0);
    expect(heed.admits(0)).toBe(true);
  });

  it('lasts as long as any answer asked for', () => {
    const heed = pause();
    failing(heed, 5, 0);
    heed.failed({ ...down, retryAfterMs: 60_000 }, 0);
    failing(heed, 1, 10);
    expect([heed.admits(59_999), heed.admits(60_000)]).toEqual([false, true]);
  });

  it('admits another probe when one is never heard of again', () => {
    const heed = pause();
    failing(heed, 5, 0);
    expect(heed.admits(1_000)).toBe(true);
    expect([heed.admits(12_999), heed.admits(13_000)]).toEqual([false, true]);
  });

  it('is not begun by requests that are refused as such (400, 413, 415): the travel API works', async () => {
    const heed = pause();
    const fake = fakeTravel();
    const { travel } = watched({ travel: fake.users, lookups: fake.lookups }, heed, () => 0);
    fake.trouble = () => ({ kind: 'unavailable', text: 'PATCH /api/users/t-1: 400', isRejected: true });
    for (let time = 0; time < 10; time += 1) await travel.patch('t-1', {});
    expect(heed.admits(0)).toBe(true);
    fake.trouble = () => down;
    for (let time = 0; time < 5; time += 1) await travel.patch('t-1', {});
    expect(heed.admits(0)).toBe(false);
  });
});
