import fc from 'fast-check';
import { type CsvColumns, csvText } from '../../src/http/csv.ts';
import { anyCharacter } from '../fixtures/unicode.ts';

/** Formats rows of texts as the lines below the names. */
async function format(rows: string[][]): Promise<string> {
  const width = Math.max(1, ...rows.map((row) => row.length));
  const columns = Object.fromEntries(
    Array.from({ length: width }, (_, index) => [`column ${index}`, (row: string[]) => row[index]]),
  );
  const text = await textOf(columns, [rows]);
  return text.slice(text.indexOf('\r\n') + 2);
}

async function textOf<Row>(columns: CsvColumns<Row>, pages: Row[][]): Promise<string> {
  let text = '';
  for await (const piece of csvText(columns, pages)) text += piece;
  return text;
}

/** Parses CSV as RFC 4180 §2 defines it. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  let row: string[] = [];
  while (cell.lastIndex < text.length) {
    const found = cell.exec(text);
    if (!found) throw new Error('This is not CSV.');
    row.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
    if (found[3] === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

test.each([
  [['a', 'b c'], 'a,b c\r\n'],
  [['a,b', 'say "no"'], '"a,b","say ""no"""\r\n'],
  [['=1+1', '+33', '-2', '@sum', '＝1'], `'=1+1,'+33,'-2,'@sum,'＝1\r\n`],
  [[' =1', '\tcmd', '\rcmd'], `' =1,'\tcmd,"'\rcmd"\r\n`],
  [['a-b', 'x@corp.example', ''], 'a-b,x@corp.example,\r\n'],
  [['two\nlines', ' padded'], '"two\nlines"," padded"\r\n'],
])('the texts %j are the line %j', async (row, line) => {
  expect(await format([row])).toBe(line);
});

test('the columns have names, and numbers, truths, times and missing values are texts', async () => {
  const columns = {
    count: ({ count }: Row) => count,
    isActive: () => true,
    at: () => new Date(0),
    missing: () => undefined,
  };
  type Row = { count: number };
  expect(await textOf(columns, [[{ count: -1 }], [], [{ count: 2 }]])).toBe(
    'count,isActive,at,missing\r\n-1,true,1970-01-01T00:00:00.000Z,\r\n2,true,1970-01-01T00:00:00.000Z,\r\n',
  );
  expect(await textOf(columns, [])).toBe('count,isActive,at,missing\r\n');
});

const anyText = fc
  .array(
    fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('"', ',', '\r', '\n', '\t', ' ', '=', '@')),
  )
  .map((parts) => parts.join(''));
const anyRows = fc
  .integer({ min: 1, max: 4 })
  .chain((width) => fc.array(fc.array(anyText, { minLength: width, maxLength: width })));

test('a reader of the text gets the cells, with an apostrophe before formulas', async () => {
  await fc.assert(
    fc.asyncProperty(anyRows, async (rows) => {
      const read = parseCsv(await format(rows));
      expect(read).toHaveLength(rows.length);
      for (const [y, row] of read.entries())
        for (const [x, cell] of row.entries()) expect([rows[y]?.[x], `'${rows[y]?.[x]}`]).toContain(cell);
    }),
  );
});

test('no cell of a reader begins like a formula', async () => {
  await fc.assert(
    fc.asyncProperty(anyRows, async (rows) => {
      for (const cell of parseCsv(await format(rows)).flat())
        expect(cell).not.toMatch(/^(\s*[=+\-@]|[\t\r])/);
    }),
  );
});
