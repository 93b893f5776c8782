import Table from 'cli-table3';
import { inLine } from './escape.ts';

/** A table as text; each cell is one line, whatever is in it. */
export function tableOf(head: string[], rows: string[][]): string {
  const table = new Table({ head, style: { head: [], border: [] } });
  table.push(...rows.map((row) => row.map(inLine)));
  return table.toString();
}

/** A time, to the minute. */
export function minute(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ');
}
