import { auditOperations } from '../operations/audit.ts';
import { connectionRecordOperations } from '../operations/connection-records.ts';
import { connectOperations } from '../operations/connections.ts';
import { credentialOperations } from '../operations/credentials.ts';
import { erasureOperations } from '../operations/erasure.ts';
import { holdOperations } from '../operations/holds.ts';
import { listOperations } from '../operations/lists.ts';
import { mappingChangeOperations } from '../operations/mapping-changes.ts';
import { mappingOperations } from '../operations/mappings.ts';
import type { Operations } from '../operations/operation.ts';
import { overviewOperations } from '../operations/overview.ts';
import { peopleOperations } from '../operations/people.ts';
import { personOperations } from '../operations/person.ts';
import { sampleDataOperations } from '../operations/sample-data.ts';
import { shadowOperations } from '../operations/shadow.ts';
import { trafficOperations } from '../operations/traffic.ts';
import { travelDataOperations } from '../operations/travel-data.ts';
import { travelOperations } from '../operations/travel-service.ts';
import { openidOperations } from './openid/sign-in.ts';
import { signInOperations } from './sign-in.ts';

/** The operations of the admin API, apart from signing in. */
export const operations = {
  ...overviewOperations,
  ...peopleOperations,
  ...personOperations,
  ...erasureOperations,
  ...mappingOperations,
  ...mappingChangeOperations,
  ...listOperations,
  ...holdOperations,
  ...shadowOperations,
  ...trafficOperations,
  ...connectOperations,
  ...connectionRecordOperations,
  ...credentialOperations,
  ...travelOperations,
  ...travelDataOperations,
  ...sampleDataOperations,
  ...auditOperations,
} satisfies Operations;

/** Every operation of the admin API. */
export const adminOperations = {
  ...operations,
  ...signInOperations,
  ...openidOperations,
} satisfies Operations;
