import SCIMMY from 'scimmy';
import { ProvisioningError } from '../../src/model/provisioning-error.ts';
import { urns } from '../../src/schema/resource.ts';
import { type ScimFixture, scimFixture } from '../fixtures/scim.ts';

let fixture: ScimFixture;
let id: string;
beforeEach(async () => {
  fixture = await scimFixture();
  const enterprise = { [urns.enterprise]: { department: 'Research' } };
  const { body } = await fixture.send('POST', '/Users', { userName: 'ada', title: 'Lead', ...enterprise });
  id = body.id;
});
afterEach(() => fixture.close());

describe('what SCIMMY and SCIMMYRouters do not do right is put right', () => {
  test('a filter reaches the list as it was sent, in forms that SCIMMY refuses', async () => {
    const filter = encodeURIComponent('not (emails[type eq "work"].value eq "x") and ((userName eq "ada"))');
    const { status, body } = await fixture.send('GET', `/Users?filter=${filter}`);
    expect([status, body.totalResults]).toEqual([200, 1]);
  });

  test('startIndex and count are used, although SCIMMYRouters loses them with Express 5', async () => {
    const { body } = await fixture.send('GET', '/Users?startIndex=2&count=1');
    expect(body).toMatchObject({ totalResults: 1, startIndex: 2, itemsPerPage: 0 });
  });

  test('a user with an extension can be read with `attributes`', async () => {
    const { status, body } = await fixture.send(
      'GET',
      `/Users/${id}?attributes=${urns.enterprise}:department`,
    );
    expect([status, body[urns.enterprise]]).toEqual([200, { department: 'Research' }]);
  });

  test('a response has the media type without a charset, the ETag of the version, and its URL', async () => {
    const { headers } = await fixture.send('GET', `/Users/${id}`);
    expect(headers.get('content-type')).toBe('application/scim+json');
    expect(headers.get('etag')).toBe('W/"1"');
    expect(headers.get('location')).toBe(`https://bridge.example/scim/v2/Users/${id}`);
  });

  test('a response without a body has no media type', async () => {
    const { status, headers } = await fixture.send('DELETE', `/Users/${id}`);
    expect([status, headers.get('content-type')]).toEqual([204, null]);
  });

  test('the message of an unknown error does not reach the client', async () => {
    fixture.bridge.failWith(new Error('a secret of the database'));
    const { status, body } = await fixture.send('GET', `/Users/${id}`);
    expect([status, body.status]).toEqual([500, '500']);
    expect(JSON.stringify(body)).not.toContain('secret');
  });

  test('an error keeps its status, its keyword and its headers', async () => {
    const unavailable = new ProvisioningError('unavailable', 'Try again.');
    fixture.bridge.failWith(unavailable);
    const { status, headers, body } = await fixture.send('GET', `/Users/${id}`);
    expect([status, headers.get('retry-after'), body.detail]).toEqual([503, '1', 'Try again.']);
    fixture.bridge.failWith(undefined);
    const taken = await fixture.send('POST', '/Users', { userName: 'ADA' });
    expect([taken.status, taken.body.scimType]).toEqual([409, 'uniqueness']);
  });

  test('the URL of a resource is that of the request, although the base path of SCIMMY is one for the whole process', async () => {
    SCIMMY.Resources.declared('User').basepath('https://elsewhere.example');
    const { body } = await fixture.send('GET', `/Users/${id}`);
    expect(body.meta.location).toBe(`https://bridge.example/scim/v2/Users/${id}`);
  });

  test.each(['/Me', '/Bulk'])('%s is 501 for every method', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const body = ['POST', 'PUT', 'PATCH'].includes(method) ? {} : undefined;
      expect((await fixture.send(method, path, body)).status).toBe(501);
    }
  });
});
