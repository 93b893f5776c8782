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

/** Text in one line: a terminal obeys control characters, wherever they come from. */
export function inLine(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
