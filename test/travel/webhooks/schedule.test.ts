import fc from 'fast-check';
import { nextOutcome } from '../../../src/travel/webhooks/attempt.ts';
import type { Attempt } from '../../../src/travel/webhooks/ports.ts';
import { HOUR, MINUTE, SECOND } from './fixture.ts';

const waits = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR];
const random = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const failed = (at: number): Attempt => ({ at, latencyMs: 10, error: 'x' });

/** The attempts of a delivery that fails until it is given up, with these random numbers. */
function history(randoms: number[]): Attempt[] {
  const attempts = [failed(0)];
  for (let turn = 0; turn < 100; turn++) {
    const outcome = nextOutcome(attempts, {
      retryAfter: undefined,
      random: randoms[turn % randoms.length] ?? 0,
    });
    if (outcome.status !== 'pending') {
      expect(outcome).toEqual({ status: 'failed', attempts });
      return attempts;
    }
    attempts.push(failed(outcome.nextAttemptAt ?? 0));
  }
  throw new Error('it is tried for ever');
}

test('waits differ from the schedule by up to a fifth, within 24 hours', () => {
  fc.assert(
    fc.property(fc.array(random, { minLength: 1, maxLength: 20 }), (randoms) => {
      const attempts = history(randoms);
      for (const [turn, { at }] of attempts.entries()) {
        const before = attempts[turn - 1];
        if (!before) continue;
        const wait = at - (before.at + before.latencyMs);
        const listed = waits[Math.min(turn, waits.length) - 1] ?? 0;
        expect(wait).toBeGreaterThanOrEqual(listed * 0.8 - 1);
        expect(wait).toBeLessThanOrEqual(listed * 1.2 + 1);
      }
      const last = attempts.at(-1)?.at ?? 0;
      expect(last).toBeLessThanOrEqual(24 * HOUR);
      expect(last).toBeGreaterThan(24 * HOUR - 2.5 * HOUR);
    }),
  );
});

test('deliveries that failed together are not retried together', () => {
  const next = (number: number) =>
    nextOutcome([failed(0)], { retryAfter: undefined, random: number }).nextAttemptAt;
  expect([next(0), next(0.5), next(1)]).toEqual([4010, 5010, 6010]);
});

test('the next attempt is always in the future, and Retry-After counts up to two hours', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.nat().map(String),
        fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      ),
      (retryAfter) => {
        const { nextAttemptAt = 0 } = nextOutcome([failed(1000)], { retryAfter, random: 0.5 });
        expect(nextAttemptAt).toBeGreaterThanOrEqual(1010 + 5 * SECOND);
        expect(nextAttemptAt).toBeLessThanOrEqual(1010 + 2 * HOUR);
      },
    ),
  );
});
