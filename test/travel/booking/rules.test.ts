import fc from 'fast-check';
import {
  amountOf,
  centsOf,
  partialAmount,
  splitCents,
  sumAmounts,
  toAmount,
} from '../../../src/travel/booking/prices.ts';
import { decideApproval, type TripPlan } from '../../../src/travel/booking/search.ts';
import type { JsonObject } from '../../../src/travel/json.ts';
import { car, flight, hotel, rail } from './quotes.ts';

const now = Date.UTC(2026, 10, 20, 12);
const plan: TripPlan = { quotes: [flight(100)], now, begins: '2026-12-01T09:00:00', countries: ['PT'] };
const under = (smartSettings: JsonObject, more: Partial<TripPlan> = {}) =>
  decideApproval([{ control: 'smart', smartSettings }], { ...plan, ...more });

describe('smart control', () => {
  const most = (amount: number, currency = 'EUR') => ({ action: 'deny', amount, currency });
  const fixed = { ...hotel(100), cancellable: false };
  test.each<[string, JsonObject, Partial<TripPlan>, string]>([
    ['no setting', {}, {}, 'bookingAllowed'],
    ['a price at the limit', { maxTripPrice: most(100) }, {}, 'bookingAllowed'],
    ['a price above it', { maxTripPrice: most(99.99) }, {}, 'declined'],
    ['a price in another currency', { maxTripPrice: most(1, 'USD') }, {}, 'bookingAllowed'],
    ['a flight above its limit', { maxTripFlightPrice: most(99) }, {}, 'declined'],
    [
      'a train, and a limit for flights',
      { maxTripFlightPrice: most(1) },
      { quotes: [rail(9)] },
      'bookingAllowed',
    ],
    ['a train above its limit', { maxTripRailPrice: most(8) }, { quotes: [rail(9)] }, 'declined'],
    ['a hotel above its limit', { maxTripHotelPrice: most(8) }, { quotes: [hotel(9)] }, 'declined'],
    [
      'a hotel to be paid come what may',
      { hotelIsNotCancellable: { action: 'deny' } },
      { quotes: [fixed] },
      'declined',
    ],
    [
      'a hotel that can be canceled',
      { hotelIsNotCancellable: { action: 'deny' } },
      { quotes: [hotel(1)] },
      'bookingAllowed',
    ],
    [
      'a car of the category',
      { maxCarRentalAcrissCategory: { action: 'deny', category: 'E' } },
      { quotes: [car(1)] },
      'bookingAllowed',
    ],
    [
      'a car above it',
      { maxCarRentalAcrissCategory: { action: 'deny', category: 'M' } },
      { quotes: [car(1)] },
      'declined',
    ],
    ['enough time', { minBookingLeadTime: { action: 'deny', days: 10 } }, {}, 'bookingAllowed'],
    ['too little time', { minBookingLeadTime: { action: 'deny', days: 11 } }, {}, 'declined'],
    ['a country that is denied', { tripDestination: { denyCountries: ['PT'] } }, {}, 'declined'],
    [
      'a country to be approved',
      { tripDestination: { forceApprovalCountries: ['PT'] } },
      {},
      'awaitApproval',
    ],
    ['another country', { tripDestination: { denyCountries: ['ES'] } }, {}, 'bookingAllowed'],
    [
      'out of budget',
      { tripIsOutOfBudget: { action: 'deny' } },
      { budget: { currency: 'EUR', total: 99 } },
      'declined',
    ],
    [
      'within budget',
      { tripIsOutOfBudget: { action: 'deny' } },
      { budget: { currency: 'EUR', total: 100 } },
      'bookingAllowed',
    ],
    [
      'within budget, and asked',
      { tripIsWithinBudget: { action: 'ask' } },
      { budget: { currency: 'EUR', total: 100 } },
      'awaitApproval',
    ],
    ['no budget', { tripIsOutOfBudget: { action: 'deny' } }, {}, 'bookingAllowed'],
    [
      'an action that is not known',
      { maxTripPrice: { ...most(1), action: 'forceApproval' } },
      {},
      'awaitApproval',
    ],
    ['an action that allows', { maxTripPrice: { ...most(1), action: 'notify' } }, {}, 'bookingAllowed'],
    ['no action', { maxTripPrice: { amount: 1, currency: 'EUR' } }, {}, 'bookingAllowed'],
  ])('%s', (_case, settings, more, status) => {
    expect(under(settings, more)).toBe(status);
  });

  test('the strictest result of several settings and travelers counts', () => {
    const ask = { maxTripPrice: { action: 'ask', amount: 1, currency: 'EUR' } };
    const deny = { tripDestination: { denyCountries: ['PT'] } };
    expect(under({ ...ask, ...deny })).toBe('declined');
    const policies = [{ control: 'none' }, { control: 'smart', smartSettings: ask }];
    expect(decideApproval(policies, plan)).toBe('awaitApproval');
    expect(decideApproval([...policies, { control: 'smart', smartSettings: deny }], plan)).toBe('declined');
    expect(decideApproval([{}], plan)).toBe('bookingAllowed');
  });
});

describe('money', () => {
  const cents = fc.integer({ min: 0, max: 100_000_000 });
  const taxRate = fc.option(fc.constantFrom(0, 5.5, 10, 20, 100), { nil: undefined });

  test('base and tax make the total, to the cent', () => {
    fc.assert(
      fc.property(cents, taxRate, (total, rate) => {
        const amount = toAmount({ currency: 'EUR', total: total / 100, taxRate: rate });
        expect(amount.total).toBe(total / 100);
        expect('tax' in amount).toBe(rate !== undefined);
        if (amount.tax === undefined || amount.base === undefined) return;
        expect(centsOf({ total: amount.base }) + centsOf({ total: amount.tax })).toBe(total);
        expect(Math.abs(amount.tax - (total / 100) * ((rate ?? 0) / (100 + (rate ?? 0))))).toBeLessThan(
          0.0051,
        );
      }),
    );
  });

  test('refunds of parts add up to the whole, tax included', () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 10_000 }), { maxLength: 12 });
    fc.assert(
      fc.property(cuts, taxRate, (given, rate) => {
        const whole = given.reduce((sum, part) => sum + part, 0);
        const price = { currency: 'EUR', taxRate: rate };
        let left = whole;
        const parts = given.map((part) => {
          const amount = partialAmount(part, left, price);
          left -= part;
          return amount;
        });
        const rest = sumAmounts([amountOf(whole, price)], parts);
        const nothing = { currency: 'EUR', total: 0 };
        const withTax = { ...nothing, base: 0, tax: 0, taxRate: rate };
        expect(rest).toEqual(rate === undefined ? nothing : withTax);
      }),
    );
  });

  test('parts add up to the whole, and differ by a cent at most', () => {
    fc.assert(
      fc.property(cents, fc.integer({ min: 1, max: 40 }), (total, count) => {
        const parts = splitCents(total, count);
        expect(parts).toHaveLength(count);
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(total);
        expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('a sum is exact and has at most two decimals', () => {
    const amounts = fc.array(
      cents.map((one) => amountOf(one, { currency: 'EUR', taxRate: 20 })),
      {
        minLength: 1,
      },
    );
    fc.assert(
      fc.property(amounts, fc.integer({ min: 0, max: 3 }), (all, taken) => {
        const [off, on] = [all.slice(0, taken), all.slice(taken)];
        const sum = (list: typeof all) => list.reduce((total, one) => total + centsOf(one), 0);
        const answered = sumAmounts(on, off);
        expect(answered.total).toBe((sum(on) - sum(off)) / 100);
        expect(String(answered.total)).toMatch(/^-?\d+(\.\d{1,2})?$/);
        expect(centsOf({ total: answered.base ?? 0 }) + centsOf({ total: answered.tax ?? 0 })).toBe(
          centsOf(answered),
        );
      }),
    );
  });

  test('a sum has a tax only if all of its parts have one', () => {
    const [one, other] = [amountOf(100, { currency: 'EUR', taxRate: 20 }), amountOf(50, { currency: 'EUR' })];
    expect(sumAmounts([one, other], [])).toEqual({ currency: 'EUR', total: 1.5 });
    const third = amountOf(110, { currency: 'EUR', taxRate: 10 });
    expect(sumAmounts([one, third], [])).toEqual({ base: 1.83, currency: 'EUR', tax: 0.27, total: 2.1 });
    expect(() => sumAmounts([one, amountOf(1, { currency: 'USD' })], [])).toThrow('several currencies');
  });
});
