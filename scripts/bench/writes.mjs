import { newPerson, title } from './person.mjs';
import { pick } from './pick.mjs';

/** What IdPs write; `operations` tells what the entries mean. */
export const writes = [
  {
    name: 'POST',
    part: 'write',
    route: '/Users',
    ask: (_cast, n) => ({ method: 'POST', path: '/Users', body: newPerson(`joiner${n}`) }),
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
    ask: (cast, n) => {
      const { id, userName } = pick(cast.people, n);
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
    ask: (cast, n) =>
      patch(`/Users/${pick(cast.people, n).id}`, 'replace', 'name.familyName', `Lovelace${n}`),
    travel: travelPatch('lastName'),
    isRight: ({ name }, { body }) => name.familyName === body.Operations[0].value,
    amount: { service: 150, stock: 150 },
  },
  {
    name: 'PATCH, no change',
    part: 'write',
    route: '/Users/:id',
    ask: (cast, n) => patch(`/Users/${pick(cast.people, n).id}`, 'replace', 'title', title),
    // SCIMMY answers a change of nothing with 204, which the RFC allows too.
    stockStatus: 204,
    isRight: (answer) => answer.title === title,
    amount: { service: 1_000, stock: 100 },
    most: 3,
  },
  {
    name: 'member add, group of 100',
    part: 'write',
    route: '/Groups/:id',
    ask: (cast) => {
      cast.added += 1;
      const newcomer = pick(cast.strangers, Math.floor(cast.added / cast.groups.length));
      return patch(`/Groups/${pick(cast.groups, cast.added)}`, 'add', 'members', [{ value: newcomer }]);
    },
    status: 204,
    // SCIMMY answers with the whole group.
    stockStatus: 200,
    amount: { service: 150, stock: 50 },
    connections: 1,
  },
  {
    name: 'member add, group of 100,000',
    part: 'write',
    route: '/Groups/:id',
    isFor: (cast) => cast.largeGroup !== undefined,
    ask: (cast) => {
      cast.added += 1;
      return patch(`/Groups/${cast.largeGroup}`, 'add', 'members', [{ value: `newcomer-${cast.added}` }]);
    },
    status: 204,
    amount: { service: 150, stock: 0 },
    connections: 1,
  },
];

/** A PATCH of one operation. */
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
  return (cast, n) => ({
    method: 'PATCH',
    path: `/users/${pick(cast.travelers, n)}`,
    body: { data: { [field]: `Lovelace${n}` } },
  });
}
