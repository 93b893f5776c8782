import { newPerson, title } from './person.mjs';
import { pick } from './pick.mjs';

/** The measured requests that write; operations.mjs describes the members of the entries. */
export const writes = [
  {
    name: 'POST',
    part: 'write',
    route: '/Users',
    requestOf: (_cast, n) => ({ method: 'POST', path: '/Users', body: newPerson(`joiner${n}`) }),
    travel: (_cast, n) => ({
      method: 'POST',
      path: '/users',
      body: { data: { email: `guest${n}@example.com`, firstName: 'Ada', lastName: 'Lovelace', lang: 'en' } },
    }),
    status: 201,
    isRight: ({ id, userName }, { body }) => id !== undefined && userName === body.userName,
    amount: { service: 150, stock: 150 },
  },
  {
    name: 'PUT',
    part: 'write',
    route: '/Users/:id',
    requestOf: (targets, n) => {
      const { id, userName } = pick(targets.people, n);
      const body = newPerson(userName.split('@')[0]);
      return {
        method: 'PUT',
        path: `/Users/${id}`,
        body: { ...body, name: { ...body.name, givenName: `Ada${n}` } },
      };
    },
    travel: travelPatch('firstName'),
    isRight: ({ name }, { body }) => name.givenName === body.name.givenName,
    amount: { service: 150, stock: 150 },
  },
  {
    name: 'PATCH',
    part: 'write',
    route: '/Users/:id',
    requestOf: (targets, n) =>
      patch(`/Users/${pick(targets.people, n).id}`, 'replace', 'name.familyName', `Lovelace${n}`),
    travel: travelPatch('lastName'),
    isRight: ({ name }, { body }) => name.familyName === body.Operations[0].value,
    amount: { service: 150, stock: 150 },
  },
  {
    name: 'PATCH, no change',
    part: 'write',
    route: '/Users/:id',
    requestOf: (targets, n) => patch(`/Users/${pick(targets.people, n).id}`, 'replace', 'title', title),
    // SCIMMY answers 204 to a PATCH without effect, which RFC 7644 allows, too.
    stockStatus: 204,
    isRight: (answer) => answer.title === title,
    amount: { service: 1_000, stock: 100 },
  },
  {
    name: 'member add, group of 100',
    part: 'write',
    route: '/Groups/:id',
    requestOf: (targets) => {
      targets.added += 1;
      const newcomer = pick(targets.strangers, Math.floor(targets.added / targets.groups.length));
      return patch(`/Groups/${pick(targets.groups, targets.added)}`, 'add', 'members', [{ value: newcomer }]);
    },
    status: 200,
    amount: { service: 150, stock: 50 },
    connections: 1,
  },
  {
    name: 'member add, group of 100,000',
    part: 'write',
    route: '/Groups/:id',
    isFor: (targets) => targets.largeGroup !== undefined,
    requestOf: (targets) => {
      targets.added += 1;
      return patch(`/Groups/${targets.largeGroup}`, 'add', 'members', [
        { value: `newcomer-${targets.added}` },
      ]);
    },
    status: 204,
    amount: { service: 150, stock: 0 },
    connections: 1,
  },
];

/** Returns the body of a PATCH with one operation. */
export function patch(path, op, attribute, value) {
  return {
    method: 'PATCH',
    path,
    body: {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op, path: attribute, value }],
    },
  };
}

function travelPatch(field) {
  return (targets, n) => ({
    method: 'PATCH',
    path: `/users/${pick(targets.travelers, n)}`,
    body: { data: { [field]: `Lovelace${n}` } },
  });
}
