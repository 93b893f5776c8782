import type { Settings } from '../config/settings.ts';
import { type FoundConditions, findConditions } from '../provisioning/conditions/conditions.ts';
import { type MissingGroups, missingGroupReader } from '../provisioning/rules/missing-groups.ts';
import { conditionFactReader, type StoredFacts } from '../store/condition-facts.ts';
import { provisioningStore } from '../store/provisioning-store.ts';
import type { Database } from '../store/sql/database.ts';

const nothing: StoredFacts = {
  summaries: [],
  connections: [],
  counts: [],
  tokens: [],
  reported: [],
  shared: [],
};

/** Finds the conditions beside a running server or without one: from the settings and the database, in which servers share what they see. */
export async function readConditions(
  { tls }: Pick<Settings, 'tls'>,
  database: Database | undefined,
  now: number,
): Promise<FoundConditions> {
  const stored = database ? await conditionFactReader(database, () => now).read() : nothing;
  const facts = {
    ...stored,
    now,
    local: [],
    missingGroups: database ? await readMissingGroups(database, stored) : [],
    certificate: tls?.certificate,
  };
  return { conditions: findConditions(facts), facts };
}

function readMissingGroups(database: Database, { connections }: StoredFacts): Promise<MissingGroups[]> {
  return missingGroupReader(provisioningStore(database))(connections);
}
