import { newPerson } from './person.mjs';
import { pick } from './pick.mjs';
import { patch } from './writes.mjs';

const PAGE = 100;

/** The operations that are compared with scimgateway. `most` is times its CPU (docs/performance.md). `amount` is of one round. */
export const peerOperations = [
  {
    name: 'POST',
    route: '/Users',
    requestOf: (_cast, n) => ({ method: 'POST', path: '/Users', body: newPerson(`joiner${n}`) }),
    status: 201,
    isRight: ({ id, userName }, { body }) => id !== undefined && userName === body.userName,
    amount: 2_000,
    most: 1,
  },
  {
    name: 'PUT',
    route: '/Users/:id',
    requestOf: (targets, n) => {
      const { id, userName, name } = pick(targets.people, n);
      const body = newPerson(userName.split('@')[0]);
      body.name = { ...body.name, ...name, givenName: `Ada${n}` };
      return { method: 'PUT', path: `/Users/${id}`, body };
    },
    isRight: ({ name }, { body }) => name.givenName === body.name.givenName,
    amount: 2_000,
    most: 1,
  },
  {
    name: 'PATCH',
    route: '/Users/:id',
    requestOf: (targets, n) =>
      patch(`/Users/${pick(targets.people, n).id}`, 'replace', 'name.givenName', `Ada${n}`),
    isRight: ({ name }, { body }) => name.givenName === body.Operations[0].value,
    amount: 2_000,
    most: 1,
  },
  {
    name: 'PATCH, no change',
    route: '/Users/:id',
    requestOf: (targets, n) => {
      const { id, name } = pick(targets.people, n);
      return patch(`/Users/${id}`, 'replace', 'name.familyName', name.familyName);
    },
    isRight: ({ name }, { body }) => name.familyName === body.Operations[0].value,
    amount: 1_000,
    most: 0.5,
  },
  {
    name: 'GET by id',
    route: '/Users/:id',
    requestOf: (targets, n) => ({ path: `/Users/${pick(targets.people, n).id}` }),
    isRight: ({ id }, { path }) => path.endsWith(id),
    amount: 2_000,
    most: 0.5,
  },
  {
    name: 'userName eq',
    route: '/Users',
    requestOf: (targets, n) => {
      const filter = encodeURIComponent(`userName eq "${pick(targets.people, n).userName}"`);
      return { path: `/Users?filter=${filter}` };
    },
    isRight: ({ totalResults, Resources }) => totalResults === 1 && Resources.length === 1,
    amount: 2_000,
    most: 0.5,
  },
  {
    name: 'page of 100',
    route: '/Users',
    requestOf: () => ({ path: `/Users?startIndex=1&count=${PAGE}` }),
    isRight: ({ Resources }) => Resources.length === PAGE,
    amount: 200,
    most: 0.5,
  },
];
