import { connectionModes } from './connection-modes.ts';
import { retention } from './identities/delete-identities.ts';
import { identities } from './identities/identities.ts';
import { imports } from './identities/imports.ts';
import { leases } from './identities/leases.ts';
import { people } from './identities/people.ts';
import { references } from './identities/references.ts';
import { shadowPlans } from './identities/shadow-plans.ts';
import { groups } from './lists/groups.ts';
import { memberships } from './lists/memberships.ts';
import { backgroundTasks } from './queues/background-tasks.ts';
import { holds } from './queues/holds.ts';
import { proposalStore } from './queues/proposed-rules.ts';
import { reconcileQueue } from './queues/reconcile-queue.ts';
import { rulesStore } from './queues/rules-in-force.ts';
import { restoredPeople } from './restore/restored-people.ts';
import type { Database } from './sql/database.ts';

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
    memberships: memberships(database),
    holds: holds(database),
    people: people(database),
    retention: retention(database),
    rules: { ...rulesStore(database), ...proposalStore(database) },
    tasks: backgroundTasks(database),
    modes: connectionModes(database),
    shadowPlans: shadowPlans(database),
    restored: restoredPeople(database),
  };
}
