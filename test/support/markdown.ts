import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A fenced block of a document: what stands behind its fence, and its text. */
export interface Block {
  info: string;
  text: string;
  /** The line of the document that its text begins at. */
  line: number;
}

/** A document of the repository. */
export function document(file: string): string {
  return readFileSync(join(__dirname, '..', '..', file), 'utf8');
}

/** The fenced blocks of a document, in order. */
export function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(({ 1: info = '', 2: inner = '', index }) => ({
    info,
    text: inner,
    line: text.slice(0, index).split('\n').length + 1,
  }));
}

/** The block below a comment of the form `<!-- name -->`. */
export function blockBelow(text: string, name: string): string {
  const [, below] = text.split(`<!-- ${name} -->`);
  const [block] = blocksOf(below ?? '');
  if (!block) throw new Error(`There is no block below <!-- ${name} -->.`);
  return block.text;
}

/** The rows of the first table under a heading, as cells, without the head. */
export function rowsUnder(text: string, heading: string): string[][] {
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const lines = section.split('\n## ')[0]?.split('\n') ?? [];
  const table = lines.slice(lines.findIndex((line) => line.startsWith('|')));
  const end = table.findIndex((line) => !line.startsWith('|'));
  return table.slice(2, end < 0 ? undefined : end).map(cellsOf);
}

function cellsOf(row: string): string[] {
  const cells = row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
  return cells.slice(1, -1);
}
