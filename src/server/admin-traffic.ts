import type { RecordedPart, RecordedScenarios, TrafficDeps } from '../admin/handlers/traffic.ts';
import type { Settings } from '../config/settings.ts';
import { type ExchangeReader, toRecorded } from '../log/search.ts';
import { searchedNames } from '../provisioning/people/identity-names.ts';
import { displayNameOf } from '../provisioning/people/people.ts';
import type { RecordedExchange } from '../replay/exchanges.ts';
import { recordScenarios } from '../replay/recorder.ts';
import { identities } from '../store/identities/identities.ts';
import type { Database } from '../store/sql/database.ts';
import { travelRoles } from '../translator/translation.ts';
import type { OpenConnection } from './open-connection.ts';

/** Returns the dependencies of the operations of the admin page on the log of exchanges. */
export function trafficParts(
  settings: Settings,
  {
    database,
    exchanges,
    connections,
    now,
  }: {
    database: Database;
    exchanges: ExchangeReader;
    connections: readonly OpenConnection[];
    now(): number;
  },
): TrafficDeps {
  const people = identities(database);
  const findUser = async (connection: string, id: string) =>
    database.scopes.has(connection) ? people.findById(connection, id) : undefined;
  return {
    ...{ exchanges, now },
    keepDays: settings.requestLog.keepDays,
    connections: () =>
      connections.map(({ settings: { id, travelApi } }) => ({
        id,
        travelUrl: travelApi.url === 'embedded' ? undefined : travelApi.url,
      })),
    nameOf: async (connection, id) => {
      const identity = await findUser(connection, id);
      return identity && (displayNameOf(identity.desired) || String(identity.desired['userName']));
    },
    searchedNamesOf: async (connection, id) => {
      const identity = await findUser(connection, id);
      return identity ? searchedNames(identity) : [];
    },
    recordScenarios: (part) => recordPart(exchanges, part),
  };
}

/** The most requests that become scenarios at once: more would take long to read, and nobody would read their steps. */
const MAX_RECORDED = 2_000;
const PAGE = 500;

async function recordPart(
  log: ExchangeReader,
  { connection, person, since, until }: RecordedPart,
): Promise<RecordedScenarios | undefined> {
  const collected: RecordedExchange[] = [];
  let before: string | undefined;
  do {
    const sought = person === undefined ? undefined : { id: person, names: [] };
    const query = { connection, person: sought, since, until, before, direction: 'scim' } as const;
    const { exchanges, next } = await log.list({ ...query, limit: PAGE });
    collected.push(...exchanges.map(toRecorded));
    if (collected.length > MAX_RECORDED) return undefined;
    before = next;
  } while (before !== undefined);
  return recordScenarios(collected.reverse(), { vocabulary: travelRoles });
}
