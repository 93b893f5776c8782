import type { WireAnswer } from './wire.ts';

/** Every status that RFC 7644 §3.12 and docs document for these requests; of the 5xx, only 501 for endpoints that are not offered. */
const statuses = [200, 201, 204, 304, 400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 417, 429, 431, 501];

const scimTypes = [
  ...['invalidFilter', 'tooMany', 'uniqueness', 'mutability', 'invalidSyntax', 'invalidPath', 'noTarget'],
  ...['invalidValue', 'invalidCursor', 'expiredCursor', 'invalidCount'],
  undefined,
];

/** Expects an error to be a complete SCIM error (RFC 7644 §3.12) without internal details, and any other body to be JSON or empty. */
export function expectDocumented({ status, headers, text }: WireAnswer): void {
  expect(statuses).toContain(status);
  if (text !== '') expect(headers.get('content-type')).toBe('application/scim+json');
  if (status < 400) return;
  const body = JSON.parse(text);
  expect(body).toMatchObject({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    detail: expect.stringMatching(/^.{10,400}\.$/s),
  });
  expect(scimTypes).toContain(body.scimType);
  expect(Object.keys(body).sort()).toEqual(
    ['detail', 'schemas', 'status', ...(body.scimType === undefined ? [] : ['scimType'])].sort(),
  );
  expect(text).not.toMatch(/node_modules|\.ts:|\.js:|at \w+ \(|SQLITE|select |insert |Error:/);
}
