import { Presets, SingleBar } from 'cli-progress';
import Table from 'cli-table3';

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

/** Shows, on standard error, how far the work on a connection is. */
export function startBar(connection: string, noun: string): SingleBar {
  const bar = new SingleBar(
    { format: `${connection} {bar} {value}/{total} ${noun}` },
    Presets.shades_classic,
  );
  bar.start(0, 0);
  return bar;
}

/** Characters that a terminal obeys (C0, DEL and C1), or that change the order or lines of a text (bidi controls, separators). */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
/** The same, and all else that nobody sees: format characters, surrogates that stand alone, private and unassigned ones. */
const unseen = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Output as a whole, without control characters but the ends of its lines: the last guard, whatever its parts are. */
export function withoutControls(text: string): string {
  return text.replace(controls, (character) => (character === '\n' ? character : escapeOf(character)));
}

/** Text from data in one line, with everything that is not seen escaped. */
export function inLine(text: string): string {
  return text.replace(unseen, escapeOf);
}

/** A value as JSON in one line, which means the same with the control characters escaped. */
export function jsonLine(value: object): string {
  return JSON.stringify(value).replace(
    controls,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function escapeOf(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
