import { accountsContract } from './contract/accounts.ts';
import { mappingsContract } from './contract/mappings.ts';
import type { Contract } from './contract/operation.ts';
import { peopleContract } from './contract/people.ts';

/** Every operation of the admin API. */
export const adminContract = {
  ...peopleContract,
  ...mappingsContract,
  ...accountsContract,
} as const satisfies Contract;
