import { backgroundTasks } from './background-tasks.ts';
import { connectionModes } from './connection-modes.ts';
import type { Database } from './database.ts';
import { retention } from './delete-identities.ts';
import { groups } from './groups.ts';
import { holds } from './holds.ts';
import { identities } from './identities.ts';
import { imports } from './imports.ts';
import { leases } from './leases.ts';
import { people } from './people.ts';
import { reconcileQueue } from './reconcile-queue.ts';
import { references } from './references.ts';
import { rulesStore } from './rules-in-force.ts';

export type ProvisioningStore = ReturnType<typeof provisioningStore>;

/** Returns all stores of the provisioning bridge on one database. */
export function provisioningStore(database: Database) {
  return {
    identities: identities(database),
    leases: leases(database),
    reconcileQueue: reconcileQueue(database),
    references: references(database),
    imports: imports(database),
    groups: groups(database),
    holds: holds(database),
    people: people(database),
    retention: retention(database),
    rules: rulesStore(database),
    tasks: backgroundTasks(database),
    modes: connectionModes(database),
  };
}
