import type { TravelFailure } from '../../src/model/travel-ports.ts';
import {
  type CircuitBreaker,
  circuitBreaker,
  sendRecorded,
} from '../../src/provisioning/calls/circuit-breaker.ts';
import { fakeTravel } from '../fixtures/fake-travel.ts';

const down: TravelFailure = { kind: 'unavailable', text: 'ECONNREFUSED', isUnanswered: true };
const faulty: TravelFailure = { kind: 'unavailable', text: 'PATCH /api/users/1: 500' };

/** The failure of a throttling travel API. */
function throttled(retryAfterMs?: number): TravelFailure {
  const retryAfter = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { kind: 'unavailable', text: 'GET /api/users: 429', isThrottled: true, ...retryAfter };
}

/** Begins a call that fails at once. */
function fail(breaker: CircuitBreaker, failure: TravelFailure, { now = 0, subject = 'ada' } = {}): void {
  breaker.beginCall().recordFailure(failure, now, subject);
}

/** Fails one call without an answer for each of this many people. */
function silence(breaker: CircuitBreaker, people: number, now = 0): void {
  for (let person = 0; person < people; person += 1) fail(breaker, down, { now, subject: `p${person}` });
}

/** Returns the times until `end` at which an attempt is admitted; each attempt fails. */
function probes(breaker: CircuitBreaker, failure: TravelFailure, end: number): number[] {
  const times: number[] = [];
  for (let now = 0; now <= end; now += 250) {
    if (!breaker.admit(now)) continue;
    times.push(now);
    fail(breaker, failure, { now, subject: `probe ${now}` });
  }
  return times;
}

describe('the circuit breaker of a throttling travel API', () => {
  it.each([
    ['a minute, however long it is asked to', 3_600_000, [60_000, 90_000, 120_000, 150_000]],
    ['a minute, if it is asked to for ever', Number.POSITIVE_INFINITY, [60_000, 90_000, 120_000, 150_000]],
    ['as long as it is asked to', 20_000, [20_000, 40_000, 60_000, 80_000, 100_000, 130_000]],
    ['longer and longer, if it is not told how long', undefined, [1_000, 3_000, 7_000, 15_000, 31_000]],
    ['at least a second', 0, [1_000, 3_000, 7_000, 15_000, 31_000]],
  ])('stays open %s, and then probes at least each half minute', (_, retryAfter, times) => {
    const breaker = circuitBreaker();
    fail(breaker, throttled(retryAfter));
    expect(probes(breaker, throttled(retryAfter), 150_000).slice(0, times.length)).toEqual(times);
  });

  it('is not extended by calls in flight when it opened', () => {
    const breaker = circuitBreaker();
    const slow = Array.from({ length: 8 }, () => breaker.beginCall());
    fail(breaker, throttled(60_000));
    for (const [index, call] of slow.entries()) call.recordFailure(throttled(60_000), 1_000 * index, index);
    expect([breaker.admit(59_999), breaker.admit(60_000)]).toEqual([false, true]);
  });

  it('stays open when a call that began before succeeds', () => {
    const breaker = circuitBreaker();
    const earlier = breaker.beginCall();
    fail(breaker, throttled(10_000));
    earlier.recordAnswer();
    expect([breaker.pauseReason(), breaker.blocks(9_999)]).toEqual(['throttled', true]);
  });

  it('lasts no longer than a minute after the clock was set back', () => {
    const breaker = circuitBreaker();
    fail(breaker, throttled(60_000), { now: 600_000 });
    expect([breaker.admit(0), breaker.admit(59_999), breaker.admit(60_000)]).toEqual([false, false, true]);
  });

  it('closes once a probe is answered, even if the answer refuses the person', () => {
    for (const failure of [undefined, faulty, { kind: 'forbidden' } as const]) {
      const breaker = circuitBreaker();
      fail(breaker, throttled(10_000));
      expect([breaker.admit(10_000), breaker.admit(10_000)]).toEqual([true, false]);
      const probe = breaker.beginCall();
      if (failure) probe.recordFailure(failure, 10_000, 'ada');
      else probe.recordAnswer();
      expect([breaker.pauseReason(), breaker.admit(10_000)]).toEqual([undefined, true]);
    }
  });

  it('makes the next attempt the probe if the admitted one made no call', () => {
    const breaker = circuitBreaker();
    fail(breaker, throttled(1_000));
    expect([breaker.admit(1_000), breaker.admit(1_000)]).toEqual([true, false]);
    breaker.endAttempt(1_001);
    expect(breaker.admit(1_001)).toBe(true);
  });

  it('admits another probe if a probe has no result for half a minute', () => {
    const breaker = circuitBreaker();
    fail(breaker, throttled(1_000));
    expect(breaker.admit(1_000)).toBe(true);
    breaker.beginCall();
    expect([breaker.admit(30_999), breaker.admit(31_000)]).toEqual([false, true]);
  });

  it('leaves a due probe to more urgent callers', () => {
    const breaker = circuitBreaker();
    fail(breaker, throttled(1_000));
    expect([breaker.admit(1_500, 2_000), breaker.blocks(1_500, 2_000), breaker.blocks(1_500)]).toEqual([
      false,
      true,
      false,
    ]);
    expect(breaker.admit(3_000, 2_000)).toBe(true);
  });

  it('is not opened by requests that are refused as such (400, 413, 415), since the travel API works', async () => {
    const breaker = circuitBreaker();
    const fake = fakeTravel();
    const patch = (id: string) => sendRecorded({ breaker, now: () => 0 }, id, () => fake.users.patch(id, {}));
    fake.faultFor = () => ({ kind: 'unavailable', text: 'PATCH /api/users/t-1: 400', isRejected: true });
    for (let person = 0; person < 10; person += 1) await patch(`t-${person}`);
    expect(breaker.admit(0)).toBe(true);
    fake.faultFor = () => down;
    for (let person = 0; person < 5; person += 1) await patch(`t-${person}`);
    expect(breaker.admit(0)).toBe(false);
  });
});

describe('the circuit breaker of a travel API that does not answer', () => {
  it('opens after five people in a row, first for a second and finally for half a minute', () => {
    const breaker = circuitBreaker();
    silence(breaker, 4);
    expect(breaker.admit(0)).toBe(true);
    silence(breaker, 5);
    expect(breaker.pauseReason()).toBe('unanswered');
    expect(probes(breaker, down, 100_000)).toEqual([1_000, 3_000, 7_000, 15_000, 31_000, 61_000, 91_000]);
  });

  it('stays closed if only the calls of one person are never answered', () => {
    const breaker = circuitBreaker();
    for (let time = 0; time < 50; time += 1) fail(breaker, down, { now: time * 1_000 });
    expect(breaker.pauseReason()).toBeUndefined();
  });

  it('stays closed while any call is answered, even by 500', () => {
    const breaker = circuitBreaker();
    for (let time = 0; time < 5; time += 1) {
      silence(breaker, 4);
      fail(breaker, faulty, { subject: 'poor' });
    }
    expect(breaker.pauseReason()).toBeUndefined();
  });

  it('is not extended when many calls in flight fail together', () => {
    const breaker = circuitBreaker();
    silence(breaker, 25);
    expect([breaker.admit(999), breaker.admit(1_000)]).toEqual([false, true]);
  });

  it('closes at the first answer to any call', () => {
    const breaker = circuitBreaker();
    const earlier = breaker.beginCall();
    silence(breaker, 5);
    earlier.recordAnswer();
    expect(breaker.pauseReason()).toBeUndefined();
  });

  it('stays open for as long as the travel API asks, once it asks', () => {
    const breaker = circuitBreaker();
    silence(breaker, 5);
    expect(breaker.admit(1_000)).toBe(true);
    fail(breaker, throttled(40_000), { now: 1_000 });
    expect([breaker.pauseReason(), breaker.admit(40_999), breaker.admit(41_000)]).toEqual([
      'throttled',
      false,
      true,
    ]);
  });
});

it('answers of 500 for any number of people do not open the breaker', () => {
  const breaker = circuitBreaker();
  for (let person = 0; person < 100; person += 1) fail(breaker, faulty, { subject: `p${person}` });
  expect([breaker.pauseReason(), breaker.admit(0)]).toEqual([undefined, true]);
});

it('a credential that is refused on every call opens the breaker until a call is accepted', () => {
  const breaker = circuitBreaker();
  for (let person = 0; person < 5; person += 1) {
    fail(breaker, { kind: 'unauthorized' }, { subject: `p${person}` });
  }
  expect(breaker.pauseReason()).toBe('unauthorized');
  expect(breaker.admit(1_000)).toBe(true);
  breaker.beginCall().recordAnswer();
  expect(breaker.pauseReason()).toBeUndefined();
});

it('the listener is called once when the breaker opens and once when it closes', () => {
  const changes: string[] = [];
  const breaker = circuitBreaker({
    opened: (reason, ms) => changes.push(`${reason} ${ms}`),
    closed: (reason) => changes.push(`end of ${reason}`),
  });
  silence(breaker, 50);
  probes(breaker, down, 300_000);
  fail(breaker, throttled(3_600_000), { now: 300_000 });
  probes(breaker, throttled(5_000), 900_000);
  expect(breaker.admit(990_000)).toBe(true);
  breaker.beginCall().recordAnswer();
  expect(changes).toEqual(['unanswered 1000', 'end of unanswered', 'throttled 60000', 'end of throttled']);
});
