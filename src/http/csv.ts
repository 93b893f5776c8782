/** A value of a table; undefined is an empty cell, and a date is written in ISO 8601. */
type Cell = string | number | boolean | Date | undefined;

/** The columns of a table by their names, in their order. Each function reads the cell of a row. */
export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** Formats rows as CSV (RFC 4180): a line of names, then the rows, each line with CR LF at its end. Yields one text for each page of rows. */
export async function* csvText<Row>(
  columns: CsvColumns<Row>,
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
): AsyncGenerator<string> {
  const cells = Object.values(columns);
  yield csvLine(Object.keys(columns));
  for await (const rows of pages)
    if (rows.length > 0) yield rows.map((row) => csvLine(cells.map((cell) => cell(row)))).join('');
}

function csvLine(cells: Cell[]): string {
  return `${cells.map(formatCell).join(',')}\r\n`;
}

function formatCell(cell: Cell): string {
  if (cell instanceof Date) return cell.toISOString();
  const text = typeof cell === 'string' ? guardFormula(cell) : String(cell ?? '');
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Spreadsheets execute texts that begin like a formula, also after white space. With an apostrophe before them they are texts. */
function guardFormula(text: string): string {
  return /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(text) ? `'${text}` : text;
}
