import { formatTable } from '../../src/cli/terminal/output.ts';

const id = '01a20690-78db-70d5-b217-5f057972395f';
const head = ['id', 'name', 'connection', 'last used', 'ends'];
const row = [id, 'the token of the identity provider', 'default', '2026-11-23 04:01', '-'];

/** The width of the longest line. */
const widthOf = (text: string) => Math.max(...text.split('\n').map((line) => line.length));

test('without a terminal every cell of a table is whole', () => {
  const text = formatTable(head, [row]);
  for (const cell of row) expect(text).toContain(`│ ${cell} `);
});

test('on a terminal the longest cells are cut, and ids stay whole', () => {
  const text = formatTable(head, [row], 105);
  expect(widthOf(text)).toBe(105);
  expect(text).toContain(`│ ${id} │ the token of the ident… │ default `);
});

test('on a narrow terminal each row is a paragraph with whole cells', () => {
  expect(formatTable(head, [row, [id, 'b', 'c', 'd', 'never']], 80).split('\n')).toEqual([
    ...[id, '  name the token of the identity provider · connection default'],
    ...['  last used 2026-11-23 04:01', id, '  name b · connection c · last used d · ends never'],
  ]);
});

test('a table with few and short columns is a table also on a narrow terminal', () => {
  const text = formatTable(['person', 'since'], [['ada.king@corp.example', '2026-11-23 04:01']], 40);
  expect(widthOf(text)).toBe(40);
  expect(text).toContain('│ ada.king@corp.ex… │ 2026-11-23 04:01 │');
});
