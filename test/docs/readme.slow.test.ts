import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runJetbridge, serveJetbridge, temporaryFolder } from '../fixtures/jetbridge.ts';
import { blockBelow, fencedBlocks, readDocument } from '../fixtures/markdown.ts';
import { withTestDatabase } from '../fixtures/test-database.ts';
import { home } from './documents.ts';

/** The session with curl begins in the README and continues in docs/first-mapping.md. */
const session = `${readDocument('README.md')}\n${readDocument('docs/first-mapping.md')}`;

it('the commands of the README and of its next page lead from the first start to a mapped traveler who moves and leaves', async () => {
  const place = temporaryFolder();
  const data = { JETBRIDGE_DATA: join(place.path, 'data') };
  const server = await serveJetbridge(data);
  const printed: Record<string, string | undefined> = {
    JETBRIDGE: server.url,
    SCIM_TOKEN: / SCIM token +(\S+)\n/.exec(server.welcome)?.[1],
    TRAVEL_API_KEY: / travel API key +(\S+)\n/.exec(server.welcome)?.[1],
  };
  const environment = blockBelow(session, 'environment').replace(
    /^export (\w+)=.+$/gm,
    (_, name: string) => `export ${name}=${printed[name]}`,
  );
  const [mapping] = fencedBlocks(session).filter(({ text }) => text.includes('scimUserMapping'));
  const [, file = ''] = /\nSave this file as `([^`]+)`/.exec(session) ?? [];
  writeFileSync(join(place.path, file), mapping?.text ?? '');
  const blocks = ['joiner', 'custom field', 'apply', 'mover', 'leaver'].map((name) =>
    blockBelow(session, name),
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
  expect(shapeOf(mapped)).toEqual(shapeOf(JSON.parse(blockBelow(session, 'answer'))));
  expect(mapped.data[0].customFields[0].customFieldId).toBe(field.data.id);
  expect(left).toMatchObject({ id: joined.id, active: false });
  expect(archived.data).toMatchObject([{ id: traveler.data[0].id, archived: true }]);
});

it('docs/operations/try-it.md shows the demo as it is', async () => {
  const { out } = await runJetbridge(['demo', '--once']);
  const page = readDocument('docs/operations/try-it.md');
  const shown = fencedBlocks(page).find(({ text }) => text.includes('Olive Kent-Lee'))?.text ?? '';
  expect(shown).toContain('what the IdP said');
  for (const line of shown.trimEnd().split('\n')) expect(out.split('\n')).toContain(line);
});

/** The same for the same answer of another day: ids and times by their kind. */
function shapeOf(answer: unknown): unknown {
  const text = JSON.stringify(answer).replace(/"([0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{24})"/g, '"<id>"');
  return JSON.parse(text.replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"<time>"'));
}
