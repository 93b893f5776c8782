import { urns } from '../../src/schema/resource.ts';
import type { Definition } from '../fixtures/published.ts';
import { type ScimFixture, scimFixture } from '../fixtures/scim.ts';

let fixture: ScimFixture;
beforeEach(async () => {
  fixture = await scimFixture();
});
afterEach(() => fixture.close());

test('what provisioning tools derive their mapping from', async () => {
  const { body } = await fixture.send('GET', `/Schemas/${urns.user}`);
  const attributes: Definition[] = body.attributes;
  const types = (name: string) =>
    attributes.find((one) => one.name === name)?.subAttributes?.find((one) => one.name === 'type')
      ?.canonicalValues;
  const required = attributes.filter((one) => one.required);
  expect(required.map(({ name }) => name)).toEqual(['userName', 'name', 'emails']);
  expect(types('emails')).toEqual(['work', 'home', 'other']);
  expect(types('phoneNumbers')).toEqual(['work', 'mobile', 'fax', 'home', 'other', 'pager']);
  expect(types('addresses')).toEqual(['work', 'home', 'other']);
  expect(types('roles')).toBeUndefined();
});
