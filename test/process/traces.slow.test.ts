import { rmSync } from 'node:fs';
import { createDataFolder } from '../fixtures/data-folder.ts';
import { serveJetbridge } from '../fixtures/jetbridge.ts';
import { traceReceiver } from '../fixtures/trace-receiver.ts';

const SCIM_TOKEN = 'scim_n3kV8hQ2pX7wL4tB9sD6';

/** Serves one request with these variables, stops the server, and returns the spans that have arrived by then. */
async function spansOf(variables: Record<string, string>) {
  const receiver = await traceReceiver();
  const data = createDataFolder('jetbridge-traces-');
  const environment = { JETBRIDGE_DATA: data, SCIM_TOKEN, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  const server = await serveJetbridge({ ...environment, ...variables });
  const headers = { authorization: `Bearer ${SCIM_TOKEN}` };
  expect((await fetch(`${server.url}/scim/v2/Users`, { headers })).status).toBe(200);
  expect((await server.stop()).code).toBe(0);
  await receiver.close();
  rmSync(data, { recursive: true });
  return receiver.spans();
}

test('a server that is stopped sends its last spans, as the standard variables of OpenTelemetry say', async () => {
  const spans = await spansOf({ OTEL_SERVICE_NAME: 'bridge-7' });
  expect(spans).toContainEqual(
    expect.objectContaining({ name: 'GET /scim/v2/Users', service: 'bridge-7', parentSpanId: undefined }),
  );
  expect(await spansOf({ OTEL_TRACES_SAMPLER: 'always_off' })).toEqual([]);
});
