import fc from 'fast-check';
import { normalize } from '../../src/schema/normalize.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { userType } from '../../src/schema/resource-types.ts';
import { patchOp, type ScimFixture, scimFixture } from '../fixtures/scim.ts';

let scim: ScimFixture;
beforeEach(async () => {
  scim = await scimFixture();
});
afterEach(() => scim.close());

const work = { value: 'ada@corp.example', type: 'work', primary: true };
const home = { value: 'ada@home.example', type: 'home' };
const turned = { primary: 'True', type: 'work', value: 'ada@corp.example' };

describe('elements that are equal in every sub-attribute become one', () => {
  it('in POST and PUT, whatever the order of their sub-attributes', async () => {
    const given = { userName: 'ada', emails: [work, home, turned, home], roles: ['a', 'b', 'a'] };
    const { body } = await scim.send('POST', '/Users', given);
    expect([body.emails, body.roles]).toEqual([
      [work, home],
      [{ value: 'a' }, { value: 'b' }],
    ]);
    const put = await scim.send('PUT', `/Users/${body.id}`, { userName: 'ada', emails: [home, home] });
    expect(put.body.emails).toEqual([home]);
  });

  it.each([
    ['add', { op: 'add', path: 'emails', value: [home, home, work] }, [work, home]],
    ['replace', { op: 'replace', path: 'emails', value: [home, home] }, [home]],
    ['a path-less value', { op: 'replace', value: { emails: [home, work, home] } }, [home, work]],
  ])('in the value of a PATCH: %s', async (_, operation, emails) => {
    const { body } = await scim.send('POST', '/Users', { userName: 'ada', emails: [work] });
    const patched = await scim.send('PATCH', `/Users/${body.id}`, patchOp(operation));
    expect(patched.body.emails).toEqual(emails);
  });

  it('in PATCH, when a change makes two elements equal', async () => {
    const addresses = [
      { type: 'work', locality: 'Oslo' },
      { type: 'home', locality: 'Oslo' },
    ];
    const { body } = await scim.send('POST', '/Users', { userName: 'ada', addresses });
    const operation = { op: 'replace', path: 'addresses[type eq "home"].type', value: 'work' };
    const patched = await scim.send('PATCH', `/Users/${body.id}`, patchOp(operation));
    expect(patched.body.addresses).toEqual([addresses[0]]);
  });
});

it('elements that differ in one sub-attribute stay separate', async () => {
  const emails = [work, { ...work, primary: false }, { ...work, primary: false, display: 'Ada' }, home];
  const { body } = await scim.send('POST', '/Users', { userName: 'ada', emails });
  expect(body.emails).toEqual(emails);
});

it('equal values of an attribute that no schema declares stay separate', async () => {
  const urn = 'urn:acme:hr:1.0:Person';
  const { body } = await scim.send('POST', '/Users', { userName: 'ada', [urn]: { codes: ['x', 'x'] } });
  expect(body[urn]).toEqual({ codes: ['x', 'x'] });
  const operation = { op: 'add', path: `${urn}:marks`, value: [{ a: 1 }, { a: 1 }] };
  const patched = await scim.send('PATCH', `/Users/${body.id}`, patchOp(operation));
  expect(patched.body[urn].codes).toEqual(['x', 'x']);
});

it('the first of several equal elements stays, in the original order, and normalizing again changes nothing', () => {
  const text = fc.constantFrom('a', 'b', 'A');
  const element = fc.record({ value: text, type: text, display: text }, { requiredKeys: ['value'] });
  const kept = (phoneNumbers: JsonObject[]) =>
    normalize(userType, { userName: 'ada', phoneNumbers }).resource['phoneNumbers'] as JsonObject[];
  const textOf = ({ value, type, display }: JsonObject) => JSON.stringify([value, type, display]);
  fc.assert(
    fc.property(fc.array(element, { minLength: 1, maxLength: 12 }), (given) => {
      const folded = kept(given);
      expect(folded.map(textOf)).toEqual([...new Set(given.map(textOf))]);
      expect(kept(folded)).toEqual(folded);
    }),
  );
});
