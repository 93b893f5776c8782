import { countText, timeText } from '../../components/texts.ts';

/** An amount of money, e.g. `€ 1,204.50` in the form of the reader's language. */
export function moneyText({ total, currency }: { total: number; currency: string }): string {
  return new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(total);
}

/** A date or date-time without zone as it reads at the place, e.g. `Dec 1, 2026, 9:30 AM`. */
export function localText(text: string): string {
  const date = new Date(text.includes('T') ? text : `${text}T00:00:00`);
  return (text.includes('T') ? dateTime : day).format(date);
}

/** A moment of the last day as the time since, and any other one by its day; both in epoch milliseconds. */
export function dayText(at: number, now: number): string {
  return now - at < 86_400_000 ? timeText(at, now) : day.format(at);
}

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** The types of resources that a person knows by these names; all others are counted together. */
const resourceNames: Record<string, [one: string, many: string]> = {
  user: ['traveler', 'travelers'],
  tripProject: ['trip', 'trips'],
  invoice: ['invoice', 'invoices'],
};

/** Numbers of resources by type, e.g. `200 travelers, 500 trips and 120 others`. */
export function resourcesText(counts: Partial<Record<string, number>>): string {
  const named = Object.entries(resourceNames).flatMap(([type, [one, many]]) => {
    const count = counts[type] ?? 0;
    return count === 0 ? [] : [countText(count, one, many)];
  });
  const others = Object.entries(counts)
    .filter(([type]) => !(type in resourceNames))
    .reduce((sum, [, count = 0]) => sum + count, 0);
  const all = others === 0 ? named : [...named, countText(others, named.length > 0 ? 'other' : 'resource')];
  return new Intl.ListFormat('en').format(all);
}
