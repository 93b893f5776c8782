import type { Amount } from '../declaration/fields.ts';

/** A price, tax included. */
export interface Price {
  currency: string;
  /** The amount, with at most two decimals. */
  total: number;
  /** In percent; undefined if the tax is unknown. */
  taxRate?: number | undefined;
}

/** Converts an amount to hundredths, which can be added without rounding errors. */
export function centsOf({ total }: Pick<Amount, 'total'>): number {
  return Math.round(total * 100);
}

/** Converts hundredths to an amount. */
export function amountOf(cents: number, price: Omit<Price, 'total'>): Amount {
  return partialAmount(cents, cents, price);
}

/**
 * Takes a part from a remaining amount. Its tax is the difference of the remaining taxes before and after, so that the
 * taxes of all parts add up to the tax of the whole.
 */
export function partialAmount(
  cents: number,
  left: number,
  { currency, taxRate }: Omit<Price, 'total'>,
): Amount {
  const total = cents / 100;
  if (taxRate === undefined) return { currency, total };
  const tax = taxIn(left, taxRate) - taxIn(left - cents, taxRate);
  return { base: (cents - tax) / 100, currency, tax: tax / 100, taxRate, total };
}

/** Splits cents into parts as equal as possible; the first parts are larger by one cent. */
export function splitCents(cents: number, parts: number): number[] {
  const least = Math.floor(cents / parts);
  return Array.from({ length: parts }, (_part, position) => least + Number(position < cents - least * parts));
}

/** Sums amounts of one currency: `added` minus `takenOff`. The tax is present only if all amounts have one. */
export function sumAmounts(added: Amount[], takenOff: Amount[]): Amount {
  const all = [...added, ...takenOff];
  const sum = (field: 'total' | 'tax' | 'base') => (sumCents(added, field) - sumCents(takenOff, field)) / 100;
  const [first] = all;
  const currency = first?.currency ?? '';
  if (all.some(({ currency: other }) => other !== currency)) {
    throw new Error('amounts of several currencies have no sum');
  }
  if (all.some(({ tax, base }) => tax === undefined || base === undefined)) {
    return { currency, total: sum('total') };
  }
  const rate = first?.taxRate;
  const isOneRate = rate !== undefined && all.every(({ taxRate }) => taxRate === rate);
  return {
    ...{ base: sum('base'), currency, tax: sum('tax'), total: sum('total') },
    ...(isOneRate ? { taxRate: rate } : {}),
  };
}

function taxIn(total: number, rate: number): number {
  return Math.round((total * rate) / (100 + rate));
}

function sumCents(amounts: Amount[], field: 'total' | 'tax' | 'base'): number {
  return amounts.reduce((sum, amount) => sum + centsOf({ total: amount[field] ?? 0 }), 0);
}
