// npm run --silent asvs: prints how Jetbridge holds the requirements of OWASP ASVS, levels 1 and 2, as a Markdown page.
// Links and paths are relative to the root of the repository.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { code, table } from './markdown.mjs';

const root = join(fileURLToPath(import.meta.url), '../..');
const data = 'test/docs/security-asvs.json';
const chapters = Object.entries(JSON.parse(readFileSync(join(root, data), 'utf8')));

const introduction = `# OWASP ASVS, level 2

This page has every requirement of levels 1 and 2 of the [OWASP Application Security Verification Standard](https://github.com/OWASP/ASVS)
4.0.3, shortened to a few words beside its number; the standard, whose text counts, is licensed under CC BY-SA 4.0. Numbers that are
missing belong to level 3 or were withdrawn. [Security](docs/security.md) explains the whole.

- **Test** names files and titles of tests that show that the requirement is held. Titles with \`%s\` run for each row of a table.
- **Setting** names the [settings](docs/settings.md) by which an operator chooses.
- **Shown by** names a document or a source, where a test could only repeat it.
- **Not held** gives the reason, also where a part is held and has a test.
- **Not applicable** says what Jetbridge does not have.`;

const overview = table(['chapter', 'held', 'not applicable', 'not held'], chapters.map(overviewRow));
const lists = chapters.map(([title, all]) => `## ${title}\n\n${all.map(lineOf).join('\n')}`);
process.stdout.write(`${[introduction, '## Overview', overview, ...lists].join('\n\n')}\n`);

/** The counts of a chapter, and the numbers of what is not held. */
function overviewRow([title, all]) {
  const numbersWith = (member) => all.filter((one) => one[member]).flatMap(numbersOf);
  const notHeld = numbersWith('notHeld');
  const notApplicable = numbersWith('notApplicable').length;
  const held = all.flatMap(numbersOf).length - notHeld.length - notApplicable;
  return [title, String(held), String(notApplicable), notHeld.join(', ')];
}

function numbersOf({ numbers }) {
  return numbers.split(', ');
}

function lineOf({ numbers, requirement, tests, settings, shownBy, notApplicable, notHeld }) {
  const parts = [
    ['Test', tests && Object.entries(tests).map(testText).join('; ')],
    ['Setting', settings?.map(code).join(', ')],
    ['Shown by', shownBy],
    ['Not applicable', notApplicable],
    ['Not held', notHeld],
  ];
  const proofs = parts.flatMap(([label, text]) => (text ? [`**${label}**: ${text}.`] : []));
  return `- **${numbers}** ${requirement}. ${proofs.join(' ')}`;
}

function testText([file, titles]) {
  return `${code(file)} ${titles.map((title) => `"${title}"`).join(', ')}`;
}
