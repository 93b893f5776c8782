import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../fixtures/command-line.ts';

const agreed = JSON.parse(readFileSync(join(__dirname, '..', 'travel/golden/openapi.json'), 'utf8'));

test('npx jetbridge openapi prints the OpenAPI document', async () => {
  const ran = await runCommandLine(['openapi']);
  expect(ran).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(ran.out)).toEqual(agreed);
});

test('with PUBLIC_URL the document contains the URL of the service', async () => {
  const ran = await runCommandLine(['openapi'], { PUBLIC_URL: 'https://bridge.example.com/' });
  expect(JSON.parse(ran.out)).toEqual({ ...agreed, servers: [{ url: 'https://bridge.example.com' }] });
});
