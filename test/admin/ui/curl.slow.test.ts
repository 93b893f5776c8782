import { execFile } from 'node:child_process';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { curlText } from '../../../src/admin/ui/views/traffic/curl.ts';

interface Received {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

const received: Received[] = [];
const server = createServer(async (request, response) => {
  const { method = '', url = '', headers } = request;
  received.push({ method, url, headers, body: await text(request) });
  response.end('ok');
});
let origin: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  received.length = 0;
});

/** Executes a command as an admin does who has copied it, with the real curl. */
const execute = (command: string) =>
  promisify(execFile)('/bin/sh', ['-c', command], { env: { PATH: process.env['PATH'], SCIM_TOKEN: 't' } });

test('curl sends what was received: no file, no pattern, no text for the shell', async () => {
  const body = `@/etc/hostname\n'"$(id)\u001b[201~`;
  const headers = { 'content-type': 'application/scim+json', 'user-agent': `-it's "x" !!`, 'if-match': '' };
  const path = '/scim/v2/Users?filter=[1-3]{a,b}';
  const request = { headers, body: { text: body, isCut: false } };
  await execute(curlText({ direction: 'scim', method: 'PATCH', path, request }, origin));
  expect(received).toEqual([
    {
      method: 'PATCH',
      url: path,
      body,
      headers: expect.objectContaining({ ...headers, authorization: 'Bearer t' }),
    },
  ]);
});

test('a HEAD ends', async () => {
  const { stdout } = await execute(
    curlText({ direction: 'scim', method: 'HEAD', path: '/scim/v2/Users', request: { headers: {} } }, origin),
  );
  expect(received).toMatchObject([{ method: 'HEAD' }]);
  expect(stdout).toContain('200 OK');
});
