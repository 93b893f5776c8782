import { runCommandLine } from '../fixtures/command-line.ts';
import { openApi } from '../travel/contract.ts';

test('npx jetbridge openapi prints the OpenAPI document', async () => {
  const ran = await runCommandLine(['openapi']);
  expect(ran).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(ran.out)).toEqual(openApi);
});

test('with PUBLIC_URL the document contains the URL of the service', async () => {
  const ran = await runCommandLine(['openapi'], { PUBLIC_URL: 'https://bridge.example.com/' });
  expect(JSON.parse(ran.out)).toEqual({ ...openApi, servers: [{ url: 'https://bridge.example.com' }] });
});
