import { pick } from './pick.mjs';

/** The number of people on a page, as IdPs request it. */
const PAGE = 100;

/** The measured requests that read; operations.mjs describes the members of the entries. */
export const reads = [
  {
    name: 'GET by id',
    part: 'read',
    route: '/Users/:id',
    requestOf: (targets, n) => ({ path: `/Users/${someone(targets, n).id}` }),
    isRight: ({ id }, { path }) => path.endsWith(id),
    amount: { service: 1_500, stock: 300 },
  },
  {
    name: 'userName eq',
    part: 'read',
    route: '/Users',
    requestOf: (targets, n) => ({
      path: `/Users?filter=${encodeURIComponent(`userName eq "${someone(targets, n).userName}"`)}`,
    }),
    isRight: ({ totalResults, Resources }) => totalResults === 1 && Resources.length === 1,
    amount: { service: 1_500, stock: 300 },
  },
  {
    name: 'page of 100, first',
    part: 'read',
    route: '/Users',
    requestOf: () => ({ path: `/Users?startIndex=1&count=${PAGE}` }),
    isRight: isPage,
    amount: { service: 200, stock: 15 },
  },
  {
    name: 'page of 100, last',
    part: 'read',
    route: '/Users',
    requestOf: (targets) => ({ path: `/Users?startIndex=${targets.total - PAGE + 1}&count=${PAGE}` }),
    isRight: isPage,
    isFar: true,
    amount: { service: 100, stock: 15 },
  },
];

/** Half of the people that are read were imported, and half were written by an IdP. */
function someone({ known, people }, n) {
  return n % 2 === 0 ? pick(known, n / 2) : pick(people, (n - 1) / 2);
}

function isPage({ itemsPerPage, Resources }) {
  return itemsPerPage === PAGE && Resources.length === PAGE;
}
