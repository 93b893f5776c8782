// Tables and paragraphs for the documents that scripts generate.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(fileURLToPath(import.meta.url), '../..');

/** A Markdown table, without spaces that align its columns; `|` within a cell is escaped. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The longest line of prose in a document. */
const MAX_LINE = 140;

/** Breaks a paragraph into lines, not within code. `indent` begins every line but the first. */
export function wrap(text, indent = '') {
  const lines = [''];
  for (const [word] of text.matchAll(/(?:[^ `]|`[^`]*`)+/g)) {
    const line = lines.at(-1);
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= MAX_LINE) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`${indent}${word}`);
  }
  return lines.join('\n');
}

/** Turns the names of documents in a text, such as docs/settings.md, to links from a page in `folder`. */
export function linksToDocuments(text, folder) {
  return text.replace(/\bdocs\/[\w/-]+\.md/g, (file) => {
    const [, title] = /^# (.+)$/m.exec(readFileSync(join(root, file), 'utf8'));
    return `[${title}](${relative(folder, file)})`;
  });
}

/** Writes a generated page. With --check it only reports whether the page is up to date. */
export function writeOrCheck(page, markdown) {
  const file = join(root, page);
  const written = markdown.endsWith('\n') ? markdown : `${markdown}\n`;
  if (!process.argv.includes('--check')) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, written);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== written) {
    process.stderr.write(`${page} is out of date: run "npm run docs" and commit it.\n`);
    process.exitCode = 1;
  }
}

/** A text in the font of code. */
export function code(text) {
  return `\`${text}\``;
}
