import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import type { JsonObject } from '../../src/travel/json.ts';
import { openFixture } from '../fixtures/travel.ts';
import { operations, partAt } from '../travel/contract.ts';

/** The sample of an operation in a language. */
function sampleOf(operationId: string, label: string): string {
  const { pointer = '' } = operations.find(({ id }) => id === operationId) ?? {};
  const samples = partAt(pointer)['x-code-samples'] as JsonObject[];
  return String(samples.find((sample) => sample['label'] === label)?.['source']);
}

test('a call of curl quotes its body for the shell, and has a variable for each id', () => {
  expect(sampleOf('updateUser', 'curl')).toBe(`curl -sS -X PATCH "$JETBRIDGE/api/users/$USER_ID" \\
  -H "Authorization: Bearer $TRAVEL_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{
  "data": {
    "email": "Ada.Lovelace@example.com",
    "billingProfileId": null
  }
}'`);
  expect(sampleOf('retrieveCustomFieldOption', 'curl')).toContain(
    '/api/custom-fields/$CUSTOM_FIELD_ID/options/$OPTION_ID"',
  );
});

test('a call of TypeScript writes its body as an object', () => {
  expect(
    sampleOf('updateUser', 'TypeScript'),
  ).toBe(`const response = await fetch(\`\${process.env.JETBRIDGE}/api/users/\${process.env.USER_ID}\`, {
  method: 'PATCH',
  headers: { Authorization: \`Bearer \${process.env.TRAVEL_API_KEY}\`, 'Content-Type': 'application/json' },
  body: JSON.stringify({
    "data": {
      "email": "Ada.Lovelace@example.com",
      "billingProfileId": null
    }
  }),
});
console.log(response.status, await response.json());`);
});

test('a call of Python writes the words of JSON as those of Python', () => {
  expect(sampleOf('updateUser', 'Python')).toBe(`import os, requests

response = requests.patch(
    f"{os.environ['JETBRIDGE']}/api/users/{os.environ['USER_ID']}",
    headers={"Authorization": f"Bearer {os.environ['TRAVEL_API_KEY']}"},
    json={
      "data": {
        "email": "Ada.Lovelace@example.com",
        "billingProfileId": None
      }
    },
)
print(response.status_code, response.json())`);
});

test('the calls of curl and TypeScript without ids work as they are copied', async () => {
  const fixture = await openFixture();
  const server = fixture.app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, JETBRIDGE: `http://127.0.0.1:${port}`, TRAVEL_API_KEY: fixture.key };
  for (const { id, path, statuses } of operations.filter((one) => !one.path.includes('{'))) {
    const call = `${sampleOf(id, 'curl')} -o /dev/null -w '%{http_code}'`;
    const { stdout } = await promisify(execFile)('bash', ['-euc', call], { env });
    expect([id, path, stdout]).toEqual([id, path, statuses[0]]);
  }
  const script = sampleOf('listUsers', 'TypeScript');
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env,
  });
  expect(stdout).toMatch(/^200 /);
  server.close();
  await fixture.close();
});
