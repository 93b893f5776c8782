import type { RecordedPart, RecordedScenarios, TrafficDeps } from '../admin/handlers/traffic.ts';
import type { Settings } from '../config/settings.ts';
import { type ExchangeReader, toRecorded } from '../log/search.ts';
import { searchedNames } from '../provisioning/identity-names.ts';
import { displayNameOf } from '../provisioning/people.ts';
import type { RecordedExchange } from '../replay/exchanges.ts';
import { recordScenarios } from '../replay/recorder.ts';
import type { Database } from '../store/database.ts';
import { identities } from '../store/identities.ts';
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

async function recordPart(log: ExchangeReader, part: RecordedPart): Promise<RecordedScenarios | undefined> {
  const read = part.person === undefined ? readTime(log, part) : readPerson(log, part, part.person);
  const exchanges = await read;
  return exchanges && recordScenarios(exchanges, { vocabulary: travelRoles });
}

/** A request is logged at its end, so that later ones can come before it. */
const MAX_LATE_MS = 60_000;

async function readTime(
  log: ExchangeReader,
  { connection, since, until }: RecordedPart,
): Promise<RecordedExchange[] | undefined> {
  const collected: RecordedExchange[] = [];
  let from: Parameters<ExchangeReader['read']>[1]['from'] = { since };
  for (;;) {
    const { exchanges, position } = await log.read(connection, { from, limit: PAGE });
    collected.push(...exchanges.filter(({ at }) => at >= since && at < until));
    if (collected.length > MAX_RECORDED) return undefined;
    if (exchanges.length === 0 || exchanges.some(({ at }) => at > until + MAX_LATE_MS)) return collected;
    from = { after: position };
  }
}

/** The requests about a person are found by an index, so that the rest of the log is not read. */
async function readPerson(
  log: ExchangeReader,
  { connection, since, until }: RecordedPart,
  person: string,
): Promise<RecordedExchange[] | undefined> {
  const collected: RecordedExchange[] = [];
  let before: string | undefined;
  do {
    const query = { connection, person: { id: person, names: [] }, since, until, before } as const;
    const { exchanges, next } = await log.list({ ...query, direction: 'scim', limit: PAGE });
    collected.push(...exchanges.flatMap((exchange) => toRecorded(exchange) ?? []));
    if (collected.length > MAX_RECORDED) return undefined;
    before = next;
  } while (before !== undefined);
  return collected.reverse();
}
