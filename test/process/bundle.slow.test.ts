import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServerProcess, startServer } from '../fixtures/server-process.ts';
import { request, TOKEN } from '../hostile/request.ts';
import { openWire } from '../hostile/wire.ts';

// The bundler removes calls that it takes for free of effects; those that only check their argument by throwing must stay.

let server: ServerProcess;
let data: string;
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'jetbridge-bundle-'));
  server = await startServer({ SCIM_TOKEN: TOKEN, JETBRIDGE_DATA: data });
});
afterAll(async () => {
  server.kill('SIGTERM');
  await server.exited;
  rmSync(data, { recursive: true });
});

it('the built service answers a path that is not percent-encoded right with 400', async () => {
  const wire = await openWire(server.url);
  const { status, text } = await wire.send(request('GET', '/Users/%zz'));
  wire.close();
  expect([status, JSON.parse(text)]).toEqual([400, expect.objectContaining({ scimType: 'invalidSyntax' })]);
});
