import { accountsContract } from './contract/accounts.ts';
import type { Contract } from './contract/operation.ts';

/** Every operation of the admin API. */
export const adminContract = { ...accountsContract } as const satisfies Contract;
