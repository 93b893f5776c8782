import { networkInterfaces } from 'node:os';
import { createLog } from '../../src/http/log.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { type CertificateFiles, certificateFiles } from '../fixtures/certificate.ts';
import { eventually } from '../fixtures/eventually.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { ask, type HttpAnswer, type Sent, shownCertificate } from '../fixtures/plain-and-tls.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

const ada = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: 'ada@corp.example',
  emails: [{ value: 'ada@corp.example' }],
};

let files: CertificateFiles;
beforeAll(async () => {
  files = await certificateFiles();
});
afterAll(() => files.remove());

/** Runs a test with a service of its own, and a function that sends requests to it. */
async function withService(
  environment: Record<string, string>,
  story: (service: RunningService, send: (path: string, sent?: Sent) => Promise<HttpAnswer>) => Promise<void>,
): Promise<void> {
  const service = await startService(environment);
  try {
    await story(service, (path, sent = {}) => ask(`${service.url}${path}`, { ca: files.pem, ...sent }));
  } finally {
    await service.close();
  }
}

const scim = ({ scimToken }: RunningService, more: Record<string, string> = {}) => ({
  Authorization: `Bearer ${scimToken}`,
  'Content-Type': 'application/scim+json',
  ...more,
});
const travel = ({ travelApiKey }: RunningService) => ({ Authorization: `Bearer ${travelApiKey}` });

describe('HTTPS of the service itself', () => {
  const tls = () => ({ TLS_CERT: files.cert, TLS_KEY: files.key });

  it('serves SCIM and the travel service, and the bridge reaches the embedded travel service', () =>
    withService(tls(), async (service, send) => {
      expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
      const sent = { method: 'POST', headers: scim(service), body: JSON.stringify(ada) };
      const made = await send('/scim/v2/Users', sent);
      expect(made.status).toBe(201);
      expect(made.headers.location).toBe(`${service.url}/scim/v2/Users/${made.body.id}`);
      await eventually(async () => {
        const { body } = await send('/api/users?emails=ada@corp.example', { headers: travel(service) });
        expect(body.data).toMatchObject([{ email: 'ada@corp.example', archived: false }]);
      });
    }));

  it('sets Strict-Transport-Security on every response (RFC 6797 §7.1)', () =>
    withService(tls(), async (service, send) => {
      for (const [path, status] of [
        ['/scim/v2/Users', 401],
        ['/api/users', 401],
        ['/healthz', 200],
        ['/nothing', 404],
      ] as const) {
        const answer = await send(path);
        expect([path, answer.status, answer.headers['strict-transport-security']]).toEqual([
          path,
          status,
          'max-age=31536000',
        ]);
      }
      expect(service.url).toMatch(/^https/);
    }));

  it('answers nothing to a connection without TLS', () =>
    withService(tls(), async (service) => {
      await expect(ask(`${service.url.replace('https', 'http')}/healthz`)).rejects.toThrow(
        /socket hang up|ECONNRESET/,
      );
    }));

  it('uses a renewed certificate without a restart, and ignores a broken one', async () => {
    const own = await certificateFiles();
    await withService({ TLS_CERT: own.cert, TLS_KEY: own.key }, async (service) => {
      const shown = () => shownCertificate(service.url);
      const before = await shown();
      expect(own.pem.replace(/\s/g, '')).toContain(before);
      const renewed = await own.renew();
      expect(await shown()).toBe(before);
      service.renewCertificate();
      expect(renewed.replace(/\s/g, '')).toContain(await shown());
      own.remove();
      service.renewCertificate();
      expect(renewed.replace(/\s/g, '')).toContain(await shown());
    });
  });

  it('uses an expired certificate with a warning', async () => {
    const old = await certificateFiles({ from: -9, to: -1 });
    const lines: JsonObject[] = [];
    const log = createLog('warn', parseLinesInto(lines));
    const service = await startService({ TLS_CERT: old.cert, TLS_KEY: old.key }, { log });
    expect(old.pem.replace(/\s/g, '')).toContain(await shownCertificate(service.url));
    await service.close();
    old.remove();
    const ended = /^the certificate in TLS_CERT ended on \d.*; clients will refuse it$/;
    // The alarms log it too.
    const messages = lines.map(({ msg }) => msg).filter((msg) => msg !== 'a condition needs attention');
    expect(messages).toEqual([expect.stringMatching(ended)]);
  });
});

describe('plain HTTP where HTTPS is required', () => {
  const strict = { REQUIRE_HTTPS: 'true', TRUSTED_PROXIES: 'loopback' };
  const plain = { 'X-Forwarded-Proto': 'http' };

  it('is refused in the error format of the requested interface', () =>
    withService(strict, async (service, send) => {
      const refused = await send('/scim/v2/Users', { headers: scim(service, plain) });
      expect(refused.status).toBe(403);
      expect(refused.headers['content-type']).toMatch(/^application\/scim\+json/);
      expect(refused.body).toEqual({
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: '403',
        detail: expect.stringContaining('Use https.'),
      });
      const api = await send('/api/users', { headers: { ...travel(service), ...plain } });
      expect([api.status, api.body]).toEqual([
        403,
        { code: 'forbidden', message: expect.stringContaining('Use https.') },
      ]);
      for (const path of ['/metrics', '/nothing'])
        expect(await send(path, { headers: plain })).toMatchObject({
          status: 403,
          body: { error: expect.any(String) },
        });
      expect(refused.headers['strict-transport-security']).toBeUndefined();
    }));

  it('has no effect on data', () =>
    withService(strict, async (service, send) => {
      const body = JSON.stringify(ada);
      const sent = { method: 'POST', headers: scim(service, plain), body };
      expect((await send('/scim/v2/Users', sent)).status).toBe(403);
      const { body: list } = await send('/scim/v2/Users?filter=userName sw "ada"'.replaceAll(' ', '%20'), {
        headers: scim(service),
      });
      expect(list.totalResults).toBe(0);
    }));

  it('is allowed for health checks', () =>
    withService(strict, async (_service, send) => {
      for (const path of ['/healthz', '/readyz'])
        expect((await send(path, { headers: plain })).status).toBe(200);
    }));

  it('is allowed from the same machine and for the bridge', () =>
    withService({ REQUIRE_HTTPS: 'true' }, async (service, send) => {
      const sent = { method: 'POST', headers: scim(service), body: JSON.stringify(ada) };
      expect((await send('/scim/v2/Users', sent)).status).toBe(201);
      await eventually(async () => {
        const { body } = await send('/api/users?emails=ada@corp.example', { headers: travel(service) });
        expect(body.data).toHaveLength(1);
      });
    }));

  for (const address of nonLoopbackAddresses())
    it(`is refused from an address other than loopback (${address})`, () =>
      withService({ HOST: '0.0.0.0' }, async (service) => {
        const outside = service.url.replace('127.0.0.1', address);
        expect((await ask(`${outside}/scim/v2/Users`, { headers: scim(service) })).status).toBe(403);
        const claimed = {
          headers: scim(service, { 'X-Forwarded-Proto': 'https', Forwarded: 'proto=https' }),
        };
        expect((await ask(`${outside}/scim/v2/Users`, claimed)).status).toBe(403);
        expect((await ask(`${service.url}/scim/v2/Users`, { headers: scim(service) })).status).toBe(200);
      }));
});

describe('a proxy that ends TLS', () => {
  const byHttps = { 'X-Forwarded-Proto': 'https', Host: 'bridge.example.com' };

  it("is trusted if configured: locations have the client's scheme and host", () =>
    withService({ REQUIRE_HTTPS: 'true', TRUSTED_PROXIES: 'loopback' }, async (service, send) => {
      const sent = { method: 'POST', headers: scim(service, byHttps), body: JSON.stringify(ada) };
      const made = await send('/scim/v2/Users', sent);
      expect(made.headers.location).toBe(`https://bridge.example.com/scim/v2/Users/${made.body.id}`);
      expect(made.body.meta.location).toBe(made.headers.location);
      expect(made.headers['strict-transport-security']).toBe('max-age=31536000');
    }));

  it('determines the address that failed authentication is counted for', () =>
    withService({ TRUSTED_PROXIES: 'loopback' }, async (_service, send) => {
      const headers = (client: string) => ({
        'Content-Type': 'application/x-www-form-urlencoded',
        'X-Forwarded-For': client,
        'X-Forwarded-Proto': 'https',
      });
      const guess = async (client: string) => {
        const body = 'grant_type=client_credentials&client_id=a&client_secret=b';
        return (await send('/oauth/token', { method: 'POST', headers: headers(client), body })).status;
      };
      for (let asked = 0; asked < 100; asked += 1) expect(await guess('203.0.113.1')).toBe(401);
      expect([await guess('203.0.113.1'), await guess('203.0.113.2')]).toEqual([429, 401]);
    }));

  it('is ignored if it is not configured as trusted', () =>
    withService({ TRUSTED_PROXIES: '10.0.0.0/8' }, async (service, send) => {
      const sent = { method: 'POST', headers: scim(service, byHttps), body: JSON.stringify(ada) };
      const made = await send('/scim/v2/Users', sent);
      expect(made.headers.location).toBe(`http://bridge.example.com/scim/v2/Users/${made.body.id}`);
      expect(made.headers['strict-transport-security']).toBeUndefined();
    }));
});

/** Addresses of this machine that do not count as local. */
function nonLoopbackAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((several) => several ?? []);
  return all.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address);
}
