import { pick } from './pick.mjs';

/** A page, as IdPs ask for it. */
const PAGE = 100;

/** What IdPs ask; `operations` tells what the entries mean. */
export const reads = [
  {
    name: 'GET by id',
    part: 'read',
    route: '/Users/:id',
    ask: (cast, n) => ({ path: `/Users/${someone(cast, n).id}` }),
    isRight: ({ id }, { path }) => path.endsWith(id),
    amount: { service: 1_500, stock: 300 },
    most: 2.5,
    aim: 2,
  },
  {
    name: 'userName eq',
    part: 'read',
    route: '/Users',
    ask: (cast, n) => ({
      path: `/Users?filter=${encodeURIComponent(`userName eq "${someone(cast, n).userName}"`)}`,
    }),
    isRight: ({ totalResults, Resources }) => totalResults === 1 && Resources.length === 1,
    amount: { service: 1_500, stock: 300 },
    most: 2.5,
    aim: 2,
  },
  {
    name: 'page of 100, first',
    part: 'read',
    route: '/Users',
    ask: () => ({ path: `/Users?startIndex=1&count=${PAGE}` }),
    isRight: isPage,
    amount: { service: 200, stock: 15 },
    most: 3,
  },
  {
    name: 'page of 100, last',
    part: 'read',
    route: '/Users',
    ask: (cast) => ({ path: `/Users?startIndex=${cast.total - PAGE + 1}&count=${PAGE}` }),
    isRight: isPage,
    amount: { service: 100, stock: 15 },
    most: 3,
  },
];

/** Half of those asked for came with the import, and half are kept as an IdP has written them. */
function someone({ known, people }, n) {
  return n % 2 === 0 ? pick(known, n / 2) : pick(people, (n - 1) / 2);
}

function isPage({ itemsPerPage, Resources }) {
  return itemsPerPage === PAGE && Resources.length === PAGE;
}
