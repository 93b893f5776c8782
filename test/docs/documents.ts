import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the repository. */
export const home = join(__dirname, '..', '..');

/** Returns the paths of all Markdown files below a folder. */
export function documentsBelow(folder: string): string[] {
  return pathsBelow(folder, /\.md$/);
}

/** Returns the paths of all sources and scripts below a folder. */
export function sourcesBelow(folder: string): string[] {
  return pathsBelow(folder, /\.(tsx?|mjs)$/);
}

function pathsBelow(folder: string, ending: RegExp): string[] {
  return readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .map((file) => `${folder}/${file}`)
    .toSorted();
}

/** Returns the items of the lists under a heading of the second level, each as one line without its dash. */
export function itemsUnder(text: string, heading: string): string[] {
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const [lists = ''] = section.split('\n## ');
  return [...lists.matchAll(/^- (.*(?:\n {2,}\S.*)*)/gm)].map(([, item = '']) =>
    item.replaceAll(/\n +/g, ' '),
  );
}

/** Returns the codes with which an item begins, such as those of two log lines. */
export function leadingCodes(item: string): string[] {
  return codesIn(/^(?:`[^`]+`(?:, )?)+/.exec(item)?.[0] ?? '');
}

/** Returns the texts in the font of code. */
export function codesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** Returns the lines of a document outside fenced blocks, with their numbers: rows of tables, or all other lines. */
export function linesOf(text: string, kind: 'table' | 'prose'): { line: string; number: number }[] {
  let isFenced = false;
  return text.split('\n').flatMap((line, index) => {
    const isFence = line.trimStart().startsWith('```');
    if (isFence) isFenced = !isFenced;
    if (isFence || isFenced || line.startsWith('|') !== (kind === 'table')) return [];
    return [{ line, number: index + 1 }];
  });
}

/** Returns the links of a document that lead nowhere: to a file or a heading that does not exist. */
export function brokenLinks(file: string): string[] {
  return brokenLinksIn(readText(file), file);
}

/** Returns the links of a text that lead nowhere, as they are read in this file. */
export function brokenLinksIn(text: string, file: string): string[] {
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
  return links.flatMap(([link, to = '', anchor]) => {
    const target = to === '' ? file : join(dirname(file), to);
    if (!existsSync(join(home, target))) return [link];
    return anchor === undefined || anchorsOf(target).includes(anchor) ? [] : [link];
  });
}

/** Returns the names by which GitHub links to the headings of a document. */
export function anchorsOf(file: string): string[] {
  return [...readText(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function readText(file: string): string {
  return readFileSync(join(home, file), 'utf8');
}

/** Returns the codes of findings, as the sources have them. */
export function findingCodesIn(...folders: string[]): string[] {
  const texts = folders.flatMap((name) =>
    readdirSync(join(home, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readText(`${name}/${file}`)),
  );
  const codes = texts.flatMap((text) => [
    ...[...text.matchAll(/\b(?:unusable|unresolved|notInLookups|leftOutValue)\(\s*'(\w+)'/g)].map(
      ([, code = '']) => code,
    ),
    ...[...text.matchAll(/\bcode: '(\w+)'/g)].map(([, code = '']) => code),
    ...[...text.matchAll(/\bcode: [^'\n]+'\w+' \? '(\w+)' : '(\w+)'/g)].flatMap(([, ...codes]) => codes),
    ...[...text.matchAll(/`\$\{toCamelCase\(noun\)\}(\w+)`/g)].flatMap(([, end]) =>
      ['costCenter', 'billingProfile', 'travelPolicy'].map((kind) => `${kind}${end}`),
    ),
  ]);
  // `custom` is a code of zod's issues and no finding.
  return [...new Set(codes)].filter((code) => code !== 'custom');
}
