import { outageRecord } from '../../src/adapter/http/outage.ts';
import type { TravelAnswer } from '../../src/model/travel-ports.ts';

const name = 'PATCH /api/users/t1';
const unavailable = (text: string, more: object = {}): TravelAnswer<unknown> => ({
  ...{ kind: 'unavailable', text: `${name}: ${text}` },
  ...more,
});
const ok: TravelAnswer<unknown> = { kind: 'ok', value: {} };

test.each<[string, TravelAnswer<unknown>, number | undefined, object | undefined]>([
  ['500', unavailable('500'), 500, { status: 500 }],
  ['503 with Retry-After', unavailable('503', { isThrottled: true }), 503, { status: 503 }],
  ['429', unavailable('429', { isThrottled: true }), 429, { status: 429 }],
  ['401', { kind: 'unauthorized' }, 401, { status: 401 }],
  ['no answer', unavailable('ECONNREFUSED', { isUnanswered: true }), undefined, { error: 'ECONNREFUSED' }],
  [
    'an answer that cannot be read',
    unavailable('the answer cannot be read'),
    200,
    { status: 200, error: 'the answer cannot be read' },
  ],
  ['a refused value', { kind: 'invalid', fields: [] }, 422, undefined],
  ['a refused request', unavailable('415', { isRejected: true }), 415, undefined],
  ['a call that is not supported', unavailable('501', { isUnsupported: true }), 501, undefined],
  ['a call that was never sent', unavailable('no answer within 10000 ms'), undefined, undefined],
  ['a 404 that a gateway may have sent', unavailable('404', { bareStatus: 404 }), 404, undefined],
])('%s is an outage if it means that the travel API cannot be used', (_name, answer, status, expected) => {
  const outage = outageRecord(() => 5);
  outage.record(answer, { name, status });
  expect(outage.current()).toEqual(
    expected && { status: undefined, error: undefined, since: 5, ...expected },
  );
});

test('an outage begins with the first failure, has the last one, and ends with a usable answer', () => {
  let now = 1;
  const outage = outageRecord(() => now);
  const record = (answer: TravelAnswer<unknown>, status: number | undefined) => {
    outage.record(answer, { name, status });
    now += 1;
  };
  expect(outage.current()).toBeUndefined();
  record(unavailable('500'), 500);
  record(unavailable('502'), 502);
  record(unavailable('404', { bareStatus: 404 }), 404);
  expect(outage.current()).toEqual({ status: 502, error: undefined, since: 1 });
  record(ok, 200);
  expect(outage.current()).toBeUndefined();
  record(unavailable('500'), 500);
  expect(outage.current()?.since).toBe(5);
});
