import fc from 'fast-check';
import type { UserView } from '../../src/provisioning/list-users.ts';
import { type JsonObject, urns } from '../../src/schema/resource.ts';
import { everything, presentUser, userJson } from '../../src/scim/serialize.ts';

const base = 'https://bridge.example/scim/v2';
const names = fc.constantFrom('userName', 'title', 'emails', urns.enterprise, urns.travel, 'urn:x:y:User');

/** Resources as the store keeps them, with and without what it says of their extensions. */
const views = fc
  .record({
    resource: fc.dictionary(
      names,
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.record({ a: fc.string() }),
        fc.constant({}),
        fc.constant({ travelUserId: 'mine' }),
        fc.constant({ [urns.travel]: {} }),
      ),
    ),
    isKnown: fc.boolean(),
    travelUserId: fc.option(fc.string(), { nil: undefined }),
    groups: fc.array(fc.record({ value: fc.uuid(), display: fc.string({ unit: 'binary' }) })),
    version: fc.nat(),
    createdAt: fc.nat(),
  })
  .map(({ resource, isKnown, ...view }): UserView => {
    const extensions = Object.keys(resource).filter((name) => name.includes(':'));
    return {
      ...view,
      id: 'u1',
      desired: JSON.stringify(resource),
      extensions: isKnown ? JSON.stringify(extensions) : null,
      lastModified: view.createdAt + 1,
      atRest: true,
      inGroups: view.groups.length > 0,
    };
  });

test('a user is printed around the text that is kept as if it were parsed and printed', () => {
  fc.assert(
    fc.property(views, (view) => {
      const printed = JSON.parse(userJson(view, base, everything)) as JsonObject;
      const parsed = presentUser(view, base);
      expect(printed).toEqual(JSON.parse(JSON.stringify(parsed)));
      expect(Object.keys(printed)).toEqual(Object.keys(parsed));
    }),
  );
});
