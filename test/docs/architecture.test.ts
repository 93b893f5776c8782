import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readDocument, tableRowsUnder } from '../fixtures/markdown.ts';
import { codesIn, home, itemsUnder, leadingCodes, sourcesBelow } from './documents.ts';

const architecture = readDocument('docs/architecture.md');

test('the document has at most 60 KB', () => {
  expect(Buffer.byteLength(architecture)).toBeLessThanOrEqual(61_440);
});

test('each folder of src has a paragraph', () => {
  const folders = readdirSync(join(home, 'src'), { withFileTypes: true }).filter((one) => one.isDirectory());
  for (const { name } of folders) expect(architecture).toContain(`\n- **\`${name}\`** `);
});

test('the paragraph of a folder names the folders within it', () => {
  const [, below = ''] = architecture.split('\n## Folders\n');
  const [paragraphs = ''] = below.split('\n## ');
  const unnamed = foldersBelow('src', 2).filter((path) => {
    const [top = '', ...inner] = path.split('/');
    const [, paragraph = ''] = paragraphs.split(`\n- **\`${top}\`** `);
    const [own = ''] = paragraph.split('\n- **');
    return !own.includes(`${inner.at(-1)}/\``);
  });
  // Each of them is a view of the page, as the paragraph of `admin` says of all.
  expect(unnamed.filter((path) => !path.startsWith('admin/ui/views/'))).toEqual([]);
});

test('a folder of src has at most eight files beside its subfolders', () => {
  const counted = ['src', ...foldersBelow('src', 1).map((path) => join('src', path))].map((path) => {
    const entries = readdirSync(join(home, path), { withFileTypes: true });
    return {
      path,
      isDivided: entries.some((one) => one.isDirectory()),
      files: entries.filter((one) => one.isFile()),
    };
  });
  const crowded = counted.filter(({ isDivided, files }) => isDivided && files.length > 8);
  expect(crowded.map(({ path, files }) => `${path}: ${files.length}`)).toEqual([]);
});

test('each step of the requests that are followed names a function that exists', () => {
  const [, followed = ''] = architecture.split('\n## Three requests followed through the code\n');
  const steps = [...followed.matchAll(/ \| `(src\/[^`]+)` +\| `(\w+)` +\|$/gm)];
  expect(steps.length).toBeGreaterThan(20);
  for (const [, file = '', name = ''] of steps)
    expect(readDocument(file)).toMatch(new RegExp(`function\\*? ${name}\\b`));
});

test('every section that code and tests cite exists', () => {
  const headings = [...architecture.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
  const cited = ['src', 'test', 'scripts'].flatMap((name) =>
    sourcesBelow(name).flatMap((file) => citationsIn(readDocument(file))),
  );
  expect(cited.length).toBeGreaterThan(10);
  expect(cited.filter((text) => !headings.some((heading) => text.startsWith(heading)))).toEqual([]);
});

test('the states are those that the page for operators explains', () => {
  const described = tableRowsUnder(architecture, 'States of an identity').flatMap(([state = '']) =>
    codesIn(state),
  );
  const page = readDocument('docs/operations/states-and-findings.md');
  const explained = itemsUnder(page, 'States').flatMap(leadingCodes);
  expect(described.toSorted()).toEqual(explained.toSorted());
});

/** The folders within this one at this depth or deeper, by their paths below it. */
function foldersBelow(root: string, depth: number): string[] {
  const found = readdirSync(join(home, root), { recursive: true, withFileTypes: true });
  return found
    .filter((one) => one.isDirectory())
    .map(({ name, parentPath }) => relative(join(home, root), join(parentPath, name)))
    .filter((path) => path.split('/').length >= depth);
}

/** The text that follows each citation of docs/architecture.md in comments, which may continue on the next line. */
function citationsIn(text: string): string[] {
  const joined = text.replace(/\n\s*(?:\*|\/\/) ?/g, ' ');
  return [...joined.matchAll(/docs\/architecture\.md, (.{1,60})/g)].map(([, cited = '']) => cited);
}
