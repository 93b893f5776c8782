import Table from 'cli-table3';

/** Columns without lines; the first `texts` and the promise to the left, figures to the right. */
export function tableOf(head, texts) {
  const places = ['top', 'bottom', 'left', 'right', 'mid'];
  const names = [...places.flatMap((at) => [at, `${at}-mid`, `${at}-left`, `${at}-right`]), 'mid-mid'];
  return new Table({
    head,
    chars: { ...Object.fromEntries(names.map((name) => [name, ''])), middle: '  ' },
    colAligns: head.map((name, n) => (n < texts || name === 'promise' ? 'left' : 'right')),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
}

/** Returns the table as text, without the blanks that fill its last column. */
export function tableText(table) {
  return table.toString().replace(/ +$/gm, '');
}

/** Returns the cells of a spread: minimum, median and maximum. */
export function spreadCells({ min, median, max }) {
  return [min, median, max].map((figure) => figure.toFixed(2));
}

/** Returns the verdict on a promise, as text for the reader. */
export function verdictText(isKept) {
  return isKept ? 'met' : 'NOT met';
}
