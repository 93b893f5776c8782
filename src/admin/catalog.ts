import { accessOperations } from '../operations/connections/access.ts';
import { connectionRecordOperations } from '../operations/connections/connection-records.ts';
import { connectOperations } from '../operations/connections/connections.ts';
import { pilotOperations } from '../operations/connections/pilot.ts';
import { shadowOperations } from '../operations/connections/shadow.ts';
import { credentialOperations } from '../operations/credentials/credentials.ts';
import { holdOperations } from '../operations/holds/holds.ts';
import { mappingChangeOperations } from '../operations/mappings/mapping-changes.ts';
import { mappingOperations } from '../operations/mappings/mappings.ts';
import type { Operations } from '../operations/operation.ts';
import { overviewOperations } from '../operations/overview.ts';
import { duplicateOperations } from '../operations/people/duplicates.ts';
import { erasureOperations } from '../operations/people/erasure.ts';
import { groupOperations } from '../operations/people/groups.ts';
import { peopleOperations } from '../operations/people/people.ts';
import { personOperations } from '../operations/people/person.ts';
import { alertOperations } from '../operations/settings/alerts.ts';
import { auditOperations } from '../operations/settings/audit.ts';
import { conditionOperations } from '../operations/settings/conditions.ts';
import { trafficOperations } from '../operations/traffic/traffic.ts';
import { listOperations } from '../operations/travel/lists.ts';
import { sampleDataOperations } from '../operations/travel/sample-data.ts';
import { travelOperations } from '../operations/travel/travel-service.ts';
import { openidOperations } from './openid/sign-in.ts';
import { signInOperations } from './sign-in/sign-in.ts';

/** The operations of the admin API, apart from signing in. */
export const operations = {
  ...overviewOperations,
  ...peopleOperations,
  ...personOperations,
  ...duplicateOperations,
  ...erasureOperations,
  ...mappingOperations,
  ...mappingChangeOperations,
  ...groupOperations,
  ...listOperations,
  ...holdOperations,
  ...shadowOperations,
  ...pilotOperations,
  ...trafficOperations,
  ...connectOperations,
  ...accessOperations,
  ...connectionRecordOperations,
  ...credentialOperations,
  ...travelOperations,
  ...sampleDataOperations,
  ...alertOperations,
  ...conditionOperations,
  ...auditOperations,
} satisfies Operations;

/** Every operation of the admin API. */
export const adminOperations = {
  ...operations,
  ...signInOperations,
  ...openidOperations,
} satisfies Operations;
