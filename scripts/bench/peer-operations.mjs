import { newPerson } from './person.mjs';
import { pick } from './pick.mjs';
import { patch } from './writes.mjs';

const PAGE = 100;

/**
 * The operations that are compared with scimgateway. `most` is times its CPU, `mostOfBare` and `aim` are times that of the bare express route
 * (docs/architecture.md, Promises). `amount` is of one round.
 */
export const peerOperations = [
  {
    name: 'POST',
    route: '/Users',
    ask: (_cast, n) => ({ method: 'POST', path: '/Users', body: newPerson(`joiner${n}`) }),
    status: 201,
    isRight: ({ id, userName }, { body }) => id !== undefined && userName === body.userName,
    amount: 2_000,
    most: 0.8,
  },
  {
    name: 'PUT',
    route: '/Users/:id',
    ask: (cast, n) => {
      const { id, userName, name } = pick(cast.people, n);
      const body = newPerson(userName.split('@')[0]);
      body.name = { ...body.name, ...name, givenName: `Ada${n}` };
      return { method: 'PUT', path: `/Users/${id}`, body };
    },
    isRight: ({ name }, { body }) => name.givenName === body.name.givenName,
    amount: 2_000,
    most: 0.8,
  },
  {
    name: 'PATCH',
    route: '/Users/:id',
    ask: (cast, n) => patch(`/Users/${pick(cast.people, n).id}`, 'replace', 'name.givenName', `Ada${n}`),
    isRight: ({ name }, { body }) => name.givenName === body.Operations[0].value,
    amount: 2_000,
    most: 0.8,
  },
  {
    name: 'PATCH, no change',
    route: '/Users/:id',
    ask: (cast, n) => patch(`/Users/${pick(cast.people, n).id}`, 'replace', 'name.familyName', 'Lovelace'),
    isRight: ({ name }) => name.familyName === 'Lovelace',
    amount: 1_000,
    mostOfBare: 3,
  },
  {
    name: 'GET by id',
    route: '/Users/:id',
    ask: (cast, n) => ({ path: `/Users/${pick(cast.people, n).id}` }),
    isRight: ({ id }, { path }) => path.endsWith(id),
    amount: 2_000,
    mostOfBare: 2.5,
    aim: 2,
  },
  {
    name: 'userName eq',
    route: '/Users',
    ask: (cast, n) => {
      const filter = encodeURIComponent(`userName eq "${pick(cast.people, n).userName}"`);
      return { path: `/Users?filter=${filter}` };
    },
    isRight: ({ totalResults, Resources }) => totalResults === 1 && Resources.length === 1,
    amount: 2_000,
    mostOfBare: 2.5,
    aim: 2,
  },
  {
    name: 'page of 100',
    route: '/Users',
    ask: () => ({ path: `/Users?startIndex=1&count=${PAGE}` }),
    isRight: ({ Resources }) => Resources.length === PAGE,
    amount: 200,
    mostOfBare: 3,
  },
];
