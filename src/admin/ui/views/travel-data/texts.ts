import { timeText } from '../../components/texts.ts';

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
