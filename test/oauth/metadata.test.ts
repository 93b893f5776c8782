import { METADATA_PATH, serverMetadata } from '../../src/oauth/metadata.ts';
import { httpFixture } from '../fixtures/http.ts';
import { startService } from '../fixtures/service.ts';

test('the metadata names the token endpoint and how clients authenticate there (RFC 8414)', async () => {
  const service = await startService({ PUBLIC_URL: 'https://bridge.example.com/' }, { background: false });
  const response = await fetch(`${service.url}${METADATA_PATH}`);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect([response.status, await response.json()]).toEqual([
    200,
    {
      issuer: 'https://bridge.example.com',
      token_endpoint: 'https://bridge.example.com/oauth/token',
      scopes_supported: ['scim', 'travel'],
      response_types_supported: [],
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'EdDSA'],
    },
  ]);
  expect((await fetch(`${service.url}${METADATA_PATH}`, { method: 'POST' })).status).toBe(405);
  expect((await fetch(`${service.url}${METADATA_PATH}/other`)).status).toBe(404);
  await service.close();
});

test('the metadata of an issuer with a path is below the path of metadata, and behind a proxy that removes the path (RFC 8414 §3.1)', async () => {
  const issuer = 'https://example.com/tenants/jetbridge';
  const http = await httpFixture((app) => app.use(METADATA_PATH, serverMetadata(issuer, ['scim'])));
  const read = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${http.port}${METADATA_PATH}${path}`);
    return response.status === 200 ? Object(await response.json()).issuer : response.status;
  };
  expect([await read('/tenants/jetbridge'), await read('')]).toEqual([issuer, issuer]);
  expect([await read('/tenants/other'), await read('/jetbridge')]).toEqual([404, 404]);
  await http.close();
});
