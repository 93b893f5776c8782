import { accountsContract } from './contract/accounts.ts';
import { auditContract } from './contract/audit.ts';
import { connectContract } from './contract/connect.ts';
import { holdsContract } from './contract/holds.ts';
import { listsContract } from './contract/lists.ts';
import { mappingsContract } from './contract/mappings.ts';
import { openidContract } from './contract/openid.ts';
import type { Contract } from './contract/operation.ts';
import { overviewContract } from './contract/overview.ts';
import { peopleContract } from './contract/people.ts';
import { shadowContract } from './contract/shadow.ts';
import { trafficContract } from './contract/traffic.ts';
import { travelContract } from './contract/travel.ts';
import { travelDataContract } from './contract/travel-data.ts';

/** Every operation of the admin API. */
export const adminContract = {
  ...overviewContract,
  ...peopleContract,
  ...mappingsContract,
  ...listsContract,
  ...holdsContract,
  ...shadowContract,
  ...trafficContract,
  ...connectContract,
  ...travelContract,
  ...travelDataContract,
  ...accountsContract,
  ...auditContract,
  ...openidContract,
} as const satisfies Contract;
