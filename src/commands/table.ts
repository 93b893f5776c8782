import Table from 'cli-table3';

/** A table as text. */
export function tableOf(head: string[], rows: string[][]): string {
  const table = new Table({ head, style: { head: [], border: [] } });
  table.push(...rows);
  return table.toString();
}

/** A time, to the minute. */
export function minute(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ');
}
