// Writes the table of quirks in docs/deviations.md from test/idp/idp-quirks.ts. With --check it only reports whether the page
// is up to date.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { idpQuirks } from '../test/idp/idp-quirks.ts';
import { code, table, writeOrCheck } from './markdown.mjs';

const root = join(fileURLToPath(import.meta.url), '../..');
const page = 'docs/deviations.md';
const section = /(<!-- quirks -->\n)[\s\S]*?(<!-- end of quirks -->)/;
const sources = readdirSync(join(root, 'src'), { recursive: true }).filter((file) => file.endsWith('.ts'));

const present = readFileSync(join(root, page), 'utf8');
if (!section.test(present)) throw new Error(`${page} has no place for the quirks.`);
writeOrCheck(
  page,
  present.replace(section, (_all, begin, end) => `${begin}\n${quirksTable()}\n\n${end}`),
);

function quirksTable() {
  const head = ['quirk', 'sent by', 'RFC', 'Jetbridge', 'example', 'recording', 'function'];
  const rows = idpQuirks.map(({ name, sentBy, rfc, here, why, example, recording, handledBy }) => [
    name,
    sentBy.join(', '),
    rfc,
    why ? `${here} (${why})` : here,
    exampleText(example),
    `[${recording.replace(/\.json$/, '')}](../test/idp/scenarios/${recording})`,
    `[\`${handledBy.name}\`](../src/${fileOf(handledBy.name)})`,
  ]);
  return table(head, rows);
}

/** The one source file that exports a function of that name. */
function fileOf(name) {
  const declaration = new RegExp(`^export (async )?function ${name}\\b`, 'm');
  const files = sources.filter((file) => declaration.test(readFileSync(join(root, 'src', file), 'utf8')));
  if (files.length !== 1) throw new Error(`${files.length} files of src export a function ${name}.`);
  return files[0];
}

function exampleText({ given, request, response }) {
  const lines = [
    ...(given ? [`given ${code(json(given.body))}:`] : []),
    `${code(`${request.method} ${request.path}`)} ${bodyText(request.body)}`.trim(),
    `→ ${response.status} ${code(json(response.body))}`,
  ];
  return lines.join('<br>');
}

/** A PATCH has one operation, which stands for the body. */
function bodyText(body) {
  if (!body) return '';
  return code(json(body.Operations ? body.Operations[0] : body));
}

function json(value) {
  return JSON.stringify(value).replaceAll(
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
    'urn:…:enterprise:2.0:User',
  );
}
