import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runJetbridge, serveJetbridge, temporaryFolder } from '../fixtures/jetbridge.ts';
import { readDocument } from '../fixtures/markdown.ts';
import { documentsBelow, home } from './documents.ts';

test.each([
  ['docs/settings.md', 'settings-page'],
  ['docs/command-line.md', 'command-line-page'],
  ['docs/mappings', 'mappings-page'],
  ['docs/deviations.md', 'deviations-page'],
])('%s is up to date ("npm run docs" writes it)', async (_page, script) => {
  const program = ['--import', './scripts/typescript.mjs', `scripts/${script}.mjs`, '--check'];
  const check = await promisify(execFile)(process.execPath, program, { cwd: home }).catch((error) => error);
  expect(check).toMatchObject({ stdout: '', stderr: '' });
});

test('docs/command-line.md has every command of --help', async () => {
  const { out } = await runJetbridge(['--help']);
  const commands = [...out.matchAll(/^ {2}([a-z-]+) (?!.*\[command\])/gm)].map(([, name]) => name);
  expect(commands).toContain('serve');
  for (const name of commands) expect(readDocument('docs/command-line.md')).toContain(`### \`${name}\`\n`);
});

// Those of Jetbridge are compared in metrics.test.ts, on each database.
test('the pages for operators name only measurements of the process that exist', async () => {
  const place = temporaryFolder();
  const server = await serveJetbridge({ JETBRIDGE_DATA: place.path });
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  await server.stop();
  place.remove();
  const pages = documentsBelow('docs/operations').map(readDocument).join('\n');
  const named = new Set(pages.match(/\b(process_[a-z_]+|nodejs_[a-z_]+)\b/g));
  expect(named.size).toBeGreaterThan(0);
  for (const name of named) expect(metrics).toContain(`# TYPE ${name.replace(/_bucket$/, '')} `);
});
