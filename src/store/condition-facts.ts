import type { SharedFact } from '../model/conditions.ts';
import type { AlarmCount } from '../model/holds.ts';
import { type ConnectionState, connectionModes } from './connection-modes.ts';
import { adminTokens } from './credentials/admins.ts';
import { scimTokens } from './credentials/credentials.ts';
import { type PeopleSummary, peopleSummaries } from './identities/people-summaries.ts';
import { unconfirmedPeople } from './identities/unconfirmed-people.ts';
import { holds } from './queues/holds.ts';
import { type ReportedCondition, reportedConditions } from './queues/reported-conditions.ts';
import type { Database } from './sql/database.ts';
import { readAtMostEvery } from './sql/queries.ts';

/** The interval at which people are counted and tokens are read, in milliseconds: the rest changes faster and costs less. */
const COUNT_MS = 10_000;

/** Reads the facts from which conditions are found. */
export interface ConditionFactReader {
  /** Summaries that the caller has just read are not read again. */
  read(summaries?: PeopleSummary[]): Promise<StoredFacts>;
}

/** Creates a reader of the facts that the database has, with numbers of people that are at most `countMs` old. */
export function conditionFactReader(
  database: Database,
  now: () => number,
  countMs = COUNT_MS,
): ConditionFactReader {
  const { countHolds } = holds(database);
  const { list: listStates } = connectionModes(database);
  const { list: listReported } = reportedConditions(database);
  const countUnconfirmed = unconfirmedPeople(database, now);
  const readSummaries = readAtMostEvery(countMs, now, peopleSummaries(database).read);
  const readTokens = readAtMostEvery(countMs, now, () => listEndingTokens(database));
  return {
    read: async (summaries) => {
      const reported = await listReported();
      return {
        summaries: summaries ?? (await readSummaries()),
        connections: await listStates(),
        counts: [...(await countHolds()), ...(await countUnconfirmed())],
        tokens: await readTokens(),
        reported,
        shared: reported.flatMap(({ seen }) => (seen ? [seen] : [])),
      };
    },
  };
}

async function listEndingTokens(database: Database): Promise<EndingToken[]> {
  const ending = (kind: EndingToken['kind'], tokens: ListedToken[]): EndingToken[] =>
    tokens.flatMap(({ connection, name, expiresAt, revokedAt }) =>
      expiresAt === undefined || revokedAt !== undefined ? [] : [{ kind, connection, name, expiresAt }],
    );
  return [
    ...ending('tokenEnds', await scimTokens(database).list()),
    ...ending('adminTokenEnds', await adminTokens(database).list()),
  ];
}

interface ListedToken {
  connection?: string;
  name: string;
  expiresAt: number | undefined;
  revokedAt: number | undefined;
}

/** A token that has an end and is not revoked. */
export interface EndingToken {
  kind: 'tokenEnds' | 'adminTokenEnds';
  /** Undefined for a token of a script. */
  connection: string | undefined;
  name: string;
  expiresAt: number;
}

/** The facts that the database has. */
export interface StoredFacts {
  summaries: PeopleSummary[];
  connections: ConnectionState[];
  /** The held people by cause, and the other people about whom an operator is alarmed. */
  counts: AlarmCount[];
  tokens: EndingToken[];
  /** The conditions that were told, and what a process has seen by itself. */
  reported: ReportedCondition[];
  shared: SharedFact[];
}
