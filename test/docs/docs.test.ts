import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { environmentSchema } from '../../src/config/environment.ts';
import {
  adminPageSchema,
  connectionSchema,
  settingsSchema,
  travelServiceSchema,
} from '../../src/config/schema.ts';
import { findingCodes } from '../../src/provisioning/people.ts';
import type { JsonObject, ScimResource } from '../../src/schema/resource.ts';
import { parseMapping } from '../../src/translator/mapping-file.ts';
import { mergePatch } from '../../src/translator/plan.ts';
import { runJetbridge, serveJetbridge, temporaryFolder } from '../fixtures/jetbridge.ts';
import { blockBelow, fencedBlocks, readDocument, tableRowsUnder } from '../fixtures/markdown.ts';
import { openTestDatabase, withTestDatabase } from '../fixtures/test-database.ts';
import { fieldKeys, translate } from '../fixtures/translator.ts';

const home = join(__dirname, '..', '..');
const readme = readDocument('README.md');
const mappings = readDocument('docs/mappings.md');
const operations = readDocument('docs/operations.md');
const architecture = readDocument('docs/architecture.md');

describe('README', () => {
  it('its commands lead from the first start to a mapped traveler who moves and leaves', async () => {
    const place = temporaryFolder();
    const data = { JETBRIDGE_DATA: join(place.path, 'data') };
    const server = await serveJetbridge(data);
    const printed: Record<string, string | undefined> = {
      JETBRIDGE: server.url,
      SCIM_TOKEN: / SCIM token +(\S+)\n/.exec(server.welcome)?.[1],
      TRAVEL_API_KEY: / travel API key +(\S+)\n/.exec(server.welcome)?.[1],
    };
    const environment = blockBelow(readme, 'environment').replace(
      /^export (\w+)=.+$/gm,
      (_, name: string) => `export ${name}=${printed[name]}`,
    );
    const [mapping] = fencedBlocks(readme).filter(({ text }) => text.includes('scimUserMapping'));
    const [, file = ''] = /\*\*2\. Save this file\*\* as `([^`]+)`/.exec(readme) ?? [];
    writeFileSync(join(place.path, file), mapping?.text ?? '');
    const blocks = ['joiner', 'custom field', 'apply', 'mover', 'leaver'].map((name) =>
      blockBelow(readme, name),
    );
    // No terminal is there to confirm the change of the mapping.
    const commands = blocks.join('').replace(/(mapping apply .+)/, '$1 --yes');
    const npx = `npx() { shift; '${process.execPath}' '${join(home, 'dist/main.js')}' "$@" >&2; }`;
    const { stdout } = await promisify(execFile)(
      'bash',
      ['-euo', 'pipefail', '-c', [npx, environment, commands].join('\n')],
      {
        cwd: place.path,
        env: { PATH: process.env['PATH'] ?? '', ...(await withTestDatabase(data)) },
      },
    );
    await server.stop();
    place.remove();
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text));
    const [joined, traveler, field, moved, mapped, left, archived] = answers;
    expect(answers).toHaveLength(7);
    expect(joined).toMatchObject({ userName: 'ada.king@corp.example', active: true });
    expect(traveler.data).toMatchObject([{ firstName: 'Ada', phoneNumber: '+33 612345678' }]);
    expect(traveler.data[0]).not.toHaveProperty('customFields');
    expect(moved.id).toBe(joined.id);
    expect(shapeOf(mapped)).toEqual(shapeOf(JSON.parse(blockBelow(readme, 'answer'))));
    expect(mapped.data[0].customFields[0].customFieldId).toBe(field.data.id);
    expect(left).toMatchObject({ id: joined.id, active: false });
    expect(archived.data).toMatchObject([{ id: traveler.data[0].id, archived: true }]);
  }, 60_000);

  it('names every variable, every key of the settings, and every command', async () => {
    const named = firstCells(readme).flatMap(codesIn);
    const secrets = ['SCIM_TOKEN', 'TRAVEL_API_KEY', 'JETBRIDGE_CONFIG'];
    for (const name of [...Object.keys(environmentSchema.shape), ...secrets]) expect(named).toContain(name);
    const keys = [
      'writeBudgetMs',
      'connections',
      ...leavesOf(connectionSchema).map((key) => `connections.*.${key}`),
      ...leavesOf(adminPageSchema).map((key) => `adminPage.${key}`),
      ...leavesOf(travelServiceSchema).map((key) => `travelService.${key}`),
    ];
    expect(keys).toContain('connections.*.policies.deprovision');
    for (const key of keys) expect(named).toContain(key);
    for (const key of [
      'emailSwap.parkingDomain',
      'import.minimumShare',
      'retention.tombstones',
      'alerts.webhookUrl',
      'alerts.secretEnv',
    ])
      expect(named).toContain(key);
    const top = [
      '$schema',
      'writeBudgetMs',
      'maxConnections',
      'connections',
      'emailSwap',
      'import',
      'retention',
      'exchangeLog',
      'alerts',
      'adminPage',
      'travelService',
    ];
    expect(Object.keys(settingsSchema.shape)).toEqual(top);
    const { out } = await runJetbridge(['--help']);
    const commands = [...out.matchAll(/^ {2}([a-z]+) (?!.*\[command\])/gm)].map(([, name]) => name);
    expect(commands).toContain('serve');
    for (const name of commands) expect(named.map((text) => text.split(' ')[0])).toContain(name);
  });

  it('its mapping has no fault', () => {
    const [mapping] = fencedBlocks(readme).filter(({ text }) => text.includes('scimUserMapping'));
    expect(parseMapping(JSON.parse(mapping?.text ?? ''))).toHaveProperty('mapping');
  });

  it('shows the demo as it is', async () => {
    const { out } = await runJetbridge(['demo']);
    const shown = fencedBlocks(readme).find(({ text }) => text.includes('Olive Kent-Lee'))?.text ?? '';
    for (const line of shown.trimEnd().split('\n')) expect(out.split('\n')).toContain(line);
  }, 60_000);
});

describe('docs/mappings.md', () => {
  const examples = examplesIn(mappings);

  it.each(examples)('the example in line $line is true', ({ mapping, user, traveler, findings }) => {
    const translation = translate(user, { mapping });
    const values = Object.entries(translation.fields).flatMap(([key, wanted]) =>
      wanted.kind === 'value' ? [[key, wanted.value] as const] : [],
    );
    expect(mergePatch(Object.fromEntries(values), undefined)).toEqual(traveler);
    expect(translation.findings.map(({ field, code }) => `${field}: ${code}`)).toEqual(findings);
  });

  it('its tables are those of the tested cases ("npm run docs" writes them)', async () => {
    const script = join(home, 'scripts/mappings-page.mjs');
    const check = await promisify(execFile)(process.execPath, [script, '--check']).catch((error) => error);
    expect(check).toMatchObject({ stdout: '', stderr: '' });
  });

  it('has a row for every transform, and for every field of travelers', () => {
    const schema = JSON.parse(readDocument('config/mapping.schema.json'));
    const { anyOf } = schema.properties.scimUserMapping.items.properties.transforms.items;
    const known = [...anyOf[0].enum, ...Object.keys(anyOf[1].properties)];
    const shown = tableRowsUnder(mappings, 'Transforms').map(([, transforms = '']) => transforms);
    for (const name of known) expect(shown.filter((cell) => cell.includes(`"${name}"`))).not.toEqual([]);
    const fields = tableRowsUnder(mappings, 'Default rules').flatMap(([names]) => codesIn(names ?? ''));
    expect(fields.toSorted()).toEqual([...fieldKeys, 'archived', 'roles'].toSorted());
    const targets = tableRowsUnder(mappings, 'Rules of your own').flatMap(([, text]) => codesIn(text ?? ''));
    expect(targets).toEqual([...fieldKeys]);
  });

  it('explains every finding that a mapping makes', () => {
    const told = tableRowsUnder(mappings, 'Findings').flatMap(([code]) => codesIn(code ?? ''));
    // Drift is seen, not made.
    expect(told).toEqual(
      codesInSources('src/translator')
        .filter((code) => code !== 'drift')
        .toSorted(),
    );
  });
});

describe('docs/operations.md', () => {
  it('explains every finding and every state', () => {
    const told = tableRowsUnder(operations, 'Findings').flatMap(([code]) => codesIn(code ?? ''));
    expect(told.filter((code, index) => told.indexOf(code) !== index)).toEqual([]);
    expect(
      codesInSources('src/translator', 'src/provisioning').filter((code) => !told.includes(code)),
    ).toEqual([]);
    expect(codesInSources('src/translator', 'src/provisioning').toSorted()).toEqual([...findingCodes]);
    const states = tableRowsUnder(operations, 'States').flatMap(([state]) => codesIn(state ?? ''));
    expect(states).toEqual(['synced', 'dirty', 'pending', 'refused', 'held']);
  });

  it('explains only log lines that the source writes', () => {
    const source = filesBelow('src').map(readDocument).join('\n');
    const shown = tableRowsUnder(operations, 'Logs').flatMap(([line = '']) => codesIn(line));
    expect(shown.length).toBeGreaterThan(20);
    const parts = shown.flatMap((line) => line.split('…').map((part) => part.trim()));
    expect(parts.filter((part) => !source.includes(part))).toEqual([]);
  });

  it('says of every table of the database what is kept there, and for how long', async () => {
    const place = temporaryFolder();
    const { db, close } = await openTestDatabase(place.path, false);
    const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
    await close();
    place.remove();
    const rows = tableRowsUnder(operations, 'Stored data and retention');
    for (const [, what = '', long = ''] of rows) expect([what, long]).not.toContain('');
    const told = new Set(rows.flatMap(([names = '']) => codesIn(names)));
    expect([...told].toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
  });

  it('names only measurements that there are', async () => {
    const place = temporaryFolder();
    const server = await serveJetbridge({ JETBRIDGE_DATA: place.path });
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    await server.stop();
    place.remove();
    const named = new Set(operations.match(/\b(jetbridge_[a-z_]+|process_[a-z_]+|nodejs_[a-z_]+)\b/g));
    expect(named.size).toBeGreaterThan(2);
    for (const name of named) expect(metrics).toContain(`# TYPE ${name.replace(/_bucket$/, '')} `);
  });
});

it('documents name only files that exist', () => {
  const documents = ['README.md', 'CONTRIBUTING.md', ...documentsBelow('docs')];
  const named = documents.flatMap((document) =>
    [...readDocument(document).matchAll(/`((?:src|test|scripts|config|docs)\/[\w./-]+)`/g)].map(
      ([, file = '']) => `${document}: ${file}`,
    ),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((text) => !existsSync(join(home, text.split(': ')[1] ?? '')))).toEqual([]);
});

it('texts and documents write a command as it is typed: npx jetbridge …', async () => {
  const { out } = await runJetbridge(['--help']);
  const commands = [...out.matchAll(/^ {2}([a-z-]+) /gm)].map(([, name]) => name);
  expect(commands).toContain('tokens');
  const bare = new RegExp(`(?<!npx )(?<![\\w./-])jetbridge (?:${commands.join('|')})\\b.*`, 'g');
  // It names the program that wrote a recording.
  const sources = filesBelow('src').filter((file) => file !== 'src/replay/recorded-session.ts');
  const texts = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...documentsBelow('docs'), ...sources];
  const found = texts.flatMap((file) =>
    [...readDocument(file).matchAll(bare)].map(([text]) => `${file}: ${text}`),
  );
  expect(found).toEqual([]);
});

describe('docs/architecture.md', () => {
  const [, orders = ''] = architecture.split('\n## Orders of events\n');
  const shown = [...orders.matchAll(/^\| (?!order of events|-)(.*) \|$/gm)].map(([, row = '']) => row);

  it('names an existing test for each order of events', () => {
    expect(shown.length).toBeGreaterThan(40);
    for (const row of shown) {
      const tests = codesIn(row).filter((code) => code.startsWith('test/'));
      expect(tests).not.toEqual([]);
      for (const test of tests) expect(existsSync(join(home, test)) ? '' : test).toBe('');
    }
  });

  it('has a paragraph for each folder of src', () => {
    const folders = readdirSync(join(home, 'src'), { withFileTypes: true }).filter((one) =>
      one.isDirectory(),
    );
    for (const { name } of folders) expect(architecture).toContain(`\n- **\`${name}\`** `);
  });

  it('names an existing function for each step of the requests that it follows', () => {
    const [, followed = ''] = architecture.split('\n## Three requests followed through the code\n');
    const steps = [...followed.matchAll(/ \| `(src\/[^`]+)` +\| `(\w+)` +\|$/gm)];
    expect(steps.length).toBeGreaterThan(20);
    for (const [, file = '', name = ''] of steps)
      expect(readDocument(file)).toMatch(new RegExp(`function\\*? ${name}\\b`));
  });

  it('has every section that code and tests cite', () => {
    const headings = [...architecture.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
    const cited = ['src', 'test', 'scripts'].flatMap((name) =>
      filesBelow(name).flatMap((file) => citationsIn(readDocument(file))),
    );
    expect(cited.length).toBeGreaterThan(10);
    expect(cited.filter((text) => !headings.some((heading) => text.startsWith(heading)))).toEqual([]);
  });

  it('has the states that docs/operations.md explains', () => {
    const explained = tableRowsUnder(architecture, 'States of an identity').flatMap(([state = '']) =>
      codesIn(state),
    );
    const known = tableRowsUnder(operations, 'States').flatMap(([state = '']) => codesIn(state));
    expect(explained.toSorted()).toEqual(known.toSorted());
  });
});

it.each([
  'README.md',
  ...readdirSync(join(home, 'docs'))
    .filter((f) => f.endsWith('.md'))
    .map((f) => `docs/${f}`),
])('every link in %s leads somewhere', (file) => {
  const links = [...readDocument(file).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(
    ([, to = '']) => to,
  );
  for (const to of links) expect(existsSync(join(home, dirname(file), to)) ? '' : to).toBe('');
  for (const [, to = '', anchor = ''] of readDocument(file).matchAll(/\]\((?!https?:)([^)#]*)#([^)]*)\)/g)) {
    const headings = readDocument(to === '' ? file : join(dirname(file), to)).matchAll(/^#+ (.+)$/gm);
    expect([...headings].map(([, heading = '']) => anchorOf(heading))).toContain(anchor);
  }
});

/** The name by which GitHub links to a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');
}

interface Example {
  line: number;
  mapping: JsonObject;
  user: ScimResource;
  traveler: object;
  findings: string[];
}

/** A mapping holds for the user below it; a traveler closes an example, and findings may follow. */
function examplesIn(text: string): Example[] {
  const examples: Example[] = [];
  let mapping: JsonObject = {};
  let user: ScimResource = {};
  for (const block of fencedBlocks(text).filter(({ info }) => info.startsWith('json '))) {
    const json = JSON.parse(block.text);
    if (block.info === 'json mapping') mapping = json;
    if (block.info === 'json user') user = json;
    if (block.info === 'json findings') Object.assign(examples.at(-1) ?? {}, { findings: json });
    if (block.info !== 'json traveler') continue;
    examples.push({ line: block.line, mapping, user, traveler: json, findings: [] });
    mapping = {};
  }
  return examples;
}

/** The same for the same answer of another day: ids and times by their kind. */
function shapeOf(answer: unknown): unknown {
  const text = JSON.stringify(answer).replace(/"([0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{24})"/g, '"<id>"');
  return JSON.parse(text.replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"<time>"'));
}

function leavesOf(schema: z.ZodType): string[] {
  const known = z.toJSONSchema(schema, { io: 'input' });
  return Object.entries(known.properties ?? {}).flatMap(([key, inner]) => {
    const below = typeof inner === 'object' && key !== 'paths' ? Object.keys(inner.properties ?? {}) : [];
    return below.length > 0 ? below.map((name) => `${key}.${name}`) : [key];
  });
}

/** The paths of all Markdown files below a folder. */
function documentsBelow(folder: string): string[] {
  return readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${folder}/${file}`);
}

/** The first cell of every row of every table. */
function firstCells(text: string): string[] {
  return [...text.matchAll(/^\| (.*?) +\|/gm)].map(([, cell = '']) => cell);
}

function codesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(home, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|mjs)$/.test(file))
    .map((file) => `${folder}/${file}`);
}

/** The text that follows each citation of docs/architecture.md in comments, which may continue on the next line. */
function citationsIn(text: string): string[] {
  const joined = text.replace(/\n\s*(?:\*|\/\/) ?/g, ' ');
  return [...joined.matchAll(/docs\/architecture\.md, (.{1,60})/g)].map(([, cited = '']) => cited);
}

/** The codes of findings, as the sources have them. */
function codesInSources(...folders: string[]): string[] {
  const texts = folders.flatMap((name) =>
    readdirSync(join(home, name)).map((file) => readFileSync(join(home, name, file), 'utf8')),
  );
  const codes = texts.flatMap((text) => [
    ...[...text.matchAll(/\b(?:unusable|unresolved|notInLookups)\(\s*'(\w+)'/g)].map(([, code = '']) => code),
    ...[...text.matchAll(/\bcode: '(\w+)'/g)].map(([, code = '']) => code),
    ...[...text.matchAll(/`\$\{toCamelCase\(noun\)\}(\w+)`/g)].flatMap(([, end]) =>
      ['costCenter', 'billingProfile', 'travelPolicy'].map((kind) => `${kind}${end}`),
    ),
  ]);
  // `custom` is a code of zod's issues and no finding.
  return [...new Set(codes)].filter((code) => code !== 'custom');
}
