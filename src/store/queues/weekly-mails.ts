import { outageKinds } from '../../model/conditions.ts';
import type { Origin } from '../../model/identity.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { parseJson, yieldToEventLoop } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** A week in epoch milliseconds: from the beginning, up to but without the end. */
export interface Week {
  from: number;
  to: number;
}

/** What has happened in a week in a connection. */
export interface ConnectionWeek {
  connection: string;
  /** The users whom the IdP has sent for the first time. */
  joined: number;
  /** The users whom the IdP has deactivated or deleted, and who have not come back. */
  left: number;
  /** The time for which the travel API could not be used, in milliseconds. */
  outageMs: number;
}

export type WeeklyMails = ReturnType<typeof weeklyMails>;

/** The time for which a replica that has claimed a mail sends it, in milliseconds. After a failure the mail is sent again so late. */
const LEASE_MS = 10 * 60_000;

/** The store of the weekly mails, by which one of several replicas sends each, also after a restart, and of what they tell. */
export function weeklyMails(database: Database) {
  const { db } = database;
  const newRow = (row: Tables['weekly_mail']) => db.insertInto('weekly_mail').values(row);
  return {
    /** Claims the mail about a week. Returns the id of the mail to the replica that must send it. The first week is not told, because nothing is known of it. */
    claim: async ({ from: week }: Week, message_id: string, now: number): Promise<string | undefined> => {
      const known = await db.selectFrom('weekly_mail').select('week').limit(1).executeTakeFirst();
      if (!known) {
        const first = newRow({ week, message_id, lease_until: now, sent_at: now });
        await first.onConflict((conflict) => conflict.doNothing()).execute();
        return undefined;
      }
      const lease_until = now + LEASE_MS;
      const claimed = await newRow({ week, message_id, lease_until, sent_at: null })
        .onConflict((conflict) =>
          conflict
            .column('week')
            .doUpdateSet({ lease_until })
            .where('weekly_mail.sent_at', 'is', null)
            .where('weekly_mail.lease_until', '<=', now),
        )
        .returning('message_id')
        .executeTakeFirst();
      return claimed?.message_id;
    },
    markSent: async ({ from }: Week, now: number): Promise<void> => {
      await db.updateTable('weekly_mail').set({ sent_at: now }).where('week', '=', from).execute();
    },
    /** Reads what has happened in a week. */
    read: async (week: Week, now: number): Promise<ConnectionWeek[]> => {
      const weeks: ConnectionWeek[] = [];
      for (const connection of database.scopes.ids()) {
        const scope = database.scopeOf(connection);
        weeks.push({
          connection,
          joined: await countJoined(db, scope, week),
          left: await countLeft(db, scope, week),
          outageMs: await sumOutages(db, connection, { ...week, now }),
        });
      }
      return weeks;
    },
  };
}

async function countJoined(db: Database['db'], scope: Scope, { from, to }: Week): Promise<number> {
  const { count } = await db
    .selectFrom('identity')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(inScope(scope))
    .where('created_at', '>=', from)
    .where('created_at', '<', to)
    .where('deleted_at', 'is', null)
    .where('claimed', '=', 1)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The rows that one step reads. */
const STEP = 500;

/** Reads those who were changed since the week began, along the index by change. A traveler that has passed to another user has not left. */
async function countLeft(db: Database['db'], scope: Scope, { from, to }: Week): Promise<number> {
  let count = 0;
  let place = { last_modified: from, id: '' };
  for (;;) {
    const rows = await db
      .selectFrom('identity')
      .select(['last_modified', 'id', 'origin'])
      .where(inScope(scope))
      .where((row) => row(row.refTuple('last_modified', 'id'), '>', row.tuple(place.last_modified, place.id)))
      .where((row) => row.or([row('active', '=', 0), row('deleted_at', 'is not', null)]))
      .where('claimed', '=', 1)
      .orderBy('last_modified')
      .orderBy('id')
      .limit(STEP)
      .execute();
    for (const { origin } of rows) {
      const { departure, successor } = parseJson<Origin>(origin);
      const isInWeek = departure !== undefined && departure.at >= from && departure.at < to;
      if (isInWeek && (successor === undefined || successor.row === 3)) count += 1;
    }
    const last = rows.at(-1);
    if (!last || rows.length < STEP) return count;
    place = last;
    await yieldToEventLoop();
  }
}

/** Adds up the parts of outages that are in the week; one that is still seen has lasted until now. */
async function sumOutages(
  db: Database['db'],
  connection: string,
  { from, to, now }: Week & { now: number },
): Promise<number> {
  const ended = await db
    .selectFrom('travel_outage')
    .select(['since', 'ended_at'])
    .where('connection_id', '=', connection)
    .where('ended_at', '>', from)
    .execute();
  const open = await db
    .selectFrom('reported_condition')
    .select('since')
    .where('connection_id', '=', connection)
    .where('kind', 'in', outageKinds)
    .execute();
  const outages = [...ended, ...open.map(({ since }) => ({ since, ended_at: now }))];
  return outages.reduce(
    (sum, { since, ended_at }) => sum + Math.max(0, Math.min(ended_at, to) - Math.max(since, from)),
    0,
  );
}
