import type { Connection } from './connection.ts';
import type { ExistingUserFinder } from './find-existing.ts';
import type { Groups } from './group-ports.ts';
import type { Comparison, ListPage, ListQuery, ListScan, UserField, UserOrder, Where } from './list-ports.ts';
import { ProvisioningError } from './provisioning-error.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Identities, IdentityView, ListedIdentity } from './store-ports.ts';

/** A SCIM user as the front door shows it. */
export interface UserView extends IdentityView {
  groups: { value: string; display: string }[];
}

/** A user on a page; of a large one `desired` is undefined, and read when it is written. */
export type ListedUser = Omit<UserView, 'desired'> & Pick<ListedIdentity, 'desired'>;

/** What a list of users asks for. */
export interface UserQuery extends ListQuery<UserField, UserOrder> {
  /** What columns do not answer; undefined: they answer all of it. */
  residual: { matches(user: UserView, step: Step): Promise<boolean>; needsGroups: boolean } | undefined;
  /** Whether the groups of those on the page are to be told. */
  withGroups: boolean;
}

type Step = ListScan<unknown>['yieldBetweenSteps'];

/** What lists of users are made with. */
export interface ListUsersDeps {
  identities: Pick<Identities, 'find' | 'list' | 'findView'>;
  groups: Pick<Groups, 'groupsOf'>;
  existingUserFinder: ExistingUserFinder;
  scanQueue: ScanQueue;
}

/** Answers a list; a search for one person that misses asks the travel API once. */
export async function listUsers(
  lists: ListUsersDeps,
  connection: Connection,
  query: UserQuery,
): Promise<ListPage<ListedUser>> {
  const known = await listKnown(lists, connection.id, query);
  const isNew = known.total === 0 && (await discovers(lists, connection, query.where));
  const { rows, ...rest } = isNew ? await listKnown(lists, connection.id, query) : known;
  return {
    ...rest,
    rows: await viewsOf(lists, connection.id, { shown: rows, withGroups: query.withGroups }),
  };
}

/** Users as they are shown, with their groups when those are wanted. */
export async function viewsOf<Shown extends Pick<IdentityView, 'id' | 'inGroups'>>(
  { groups }: Pick<ListUsersDeps, 'groups'>,
  connection: string,
  { shown, withGroups }: { shown: Shown[]; withGroups: boolean },
): Promise<(Shown & Pick<UserView, 'groups'>)[]> {
  const members = withGroups ? shown.filter(({ inGroups }) => inGroups) : [];
  if (members.length === 0) return shown.map((identity) => ({ ...identity, groups: [] }));
  const ids = members.map(({ id }) => id);
  const found = await groups.groupsOf(connection, ids);
  return shown.map((identity) => ({ ...identity, groups: found.get(identity.id) ?? [] }));
}

function listKnown(
  lists: ListUsersDeps,
  connection: string,
  query: UserQuery,
): Promise<ListPage<ListedIdentity>> {
  return lists.scanQueue.run(connection, (step) => {
    const residual = residualOf(lists, connection, { query, step });
    return lists.identities.list(connection, query, { yieldBetweenSteps: step, residual });
  });
}

function residualOf(
  lists: ListUsersDeps,
  connection: string,
  { query: { residual }, step }: { query: UserQuery; step: Step },
): ListScan<ListedIdentity>['residual'] {
  if (!residual) return undefined;
  return async (shown) => {
    const matching: boolean[] = [];
    for (const view of await viewsOf(lists, connection, { shown, withGroups: residual.needsGroups })) {
      await step();
      const desired = view.desired ?? (await lists.identities.findView(connection, view.id))?.desired;
      matching.push(desired !== undefined && (await residual.matches({ ...view, desired }, step)));
    }
    return matching;
  };
}

/** True when a person who is asked for by name or address, and whom nobody knew, is known from now on. */
async function discovers(
  { identities, existingUserFinder: discovery }: ListUsersDeps,
  connection: Connection,
  where: Where<UserField>,
): Promise<boolean> {
  const sought = soughtIn(where);
  if (!sought) return false;
  const isAlone = sought === where;
  const value = String(sought.value);
  const by = sought.field === 'email' ? 'email' : 'userName';
  // Whoever is known, and left out by the rest of the filter, need not be asked for.
  const known = isAlone ? [] : await identities.find(connection.id, { by, value });
  if (known.some(({ deletedAt }) => deletedAt === undefined)) return false;
  return discovery.find(connection, value);
}

/** The person that a filter asks for, if it is one. */
function soughtIn(where: Where<UserField>): Comparison<UserField> | undefined {
  if ('any' in where) return undefined;
  if ('all' in where) return where.all.map(soughtIn).find((sought) => sought !== undefined);
  return where.field === 'userName' || where.field === 'email' ? where : undefined;
}

/** Others are let in this often. */
const PAUSE_MS = 5;
/** Longer than this no list may take, waiting included. */
const LIMIT_MS = 5000;

/** Lets long lists of one connection be made one after the other; short ones wait for nobody. */
export interface ScanQueue {
  /** Does the work; `step`, awaited between short steps of it, waits for a turn once the work has proved long. */
  run<T>(connection: string, work: (step: ListScan<unknown>['yieldBetweenSteps']) => Promise<T>): Promise<T>;
}

/** Who waits for their turn, by connection. */
export function scanQueue({ now }: Pick<Runtime, 'now'>): ScanQueue {
  const queues = new Map<string, Promise<void>>();
  return {
    run: async (connection, work) => {
      const turn = turnIn(queues, connection);
      const begun = now();
      let last = begun;
      const step = async (): Promise<void> => {
        if (now() - last < PAUSE_MS) return;
        await turn.come();
        await new Promise((resolve) => setImmediate(resolve));
        last = now();
        if (last - begun > LIMIT_MS) throw tooMany();
      };
      try {
        return await work(step);
      } finally {
        turn.end();
      }
    },
  };
}

/** A place in a queue, taken when it is first asked for. */
function turnIn(queues: Map<string, Promise<void>>, connection: string) {
  let coming: Promise<void> | undefined;
  let release = () => {};
  return {
    come: (): Promise<void> => {
      if (!coming) {
        coming = queues.get(connection) ?? Promise.resolve();
        const over = new Promise<void>((resolve) => {
          release = resolve;
        });
        const tail = coming.then(() => over);
        queues.set(connection, tail);
        void tail.then(() => {
          if (queues.get(connection) === tail) queues.delete(connection);
        });
      }
      return coming;
    },
    end: () => release(),
  };
}

function tooMany(): ProvisioningError {
  return new ProvisioningError(
    'tooMany',
    'Too many resources must be looked at one by one. Add what is indexed: of users id, userName, externalId, emails and displayName with eq, active, meta.created, meta.lastModified; of groups id, displayName, externalId and members with eq, meta.created, meta.lastModified.',
  );
}
