import fc from 'fast-check';
import {
  amountOf,
  centsOf,
  partialAmount,
  splitCents,
  sumAmounts,
} from '../../src/travel/resources/amounts.ts';

const cents = fc.integer({ min: 0, max: 100_000_000 });
const taxRate = fc.option(fc.constantFrom(0, 5.5, 10, 20, 100), { nil: undefined });

test('base and tax make the total, to the cent', () => {
  fc.assert(
    fc.property(cents, taxRate, (total, rate) => {
      const amount = amountOf(total, { currency: 'EUR', taxRate: rate });
      expect(amount.total).toBe(total / 100);
      expect('tax' in amount).toBe(rate !== undefined);
      if (amount.tax === undefined || amount.base === undefined) return;
      expect(centsOf({ total: amount.base }) + centsOf({ total: amount.tax })).toBe(total);
      expect(Math.abs(amount.tax - (total / 100) * ((rate ?? 0) / (100 + (rate ?? 0))))).toBeLessThan(0.0051);
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
