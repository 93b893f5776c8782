import type { Connection } from '../../model/connection.ts';
import type { Groups } from '../../model/group-ports.ts';
import { isLive } from '../../model/identity.ts';
import type {
  Comparison,
  ListPage,
  ListQuery,
  ListScan,
  UserField,
  UserOrder,
  Where,
} from '../../model/list-ports.ts';
import { ProvisioningError } from '../../model/provisioning-error.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { Identities, IdentityView, ListedIdentity } from '../../model/store-ports.ts';
import type { OwnUsers } from '../calls/own-users.ts';
import type { ExistingUserFinder } from './find-existing.ts';

/** A user as the SCIM interface returns it. */
export interface UserView extends IdentityView {
  groups: { value: string; display: string }[];
}

/** A user on a page. A large `desired` is undefined and is read when the response is written. */
export type ListedUser = Omit<UserView, 'desired'> & Pick<ListedIdentity, 'desired'>;

/** Selects, sorts and pages users. */
export interface UserQuery extends ListQuery<UserField, UserOrder> {
  /** The part of the filter that columns cannot answer; undefined if they answer all of it. */
  residual:
    | {
        matches(user: UserView, yieldBetweenSteps: YieldBetweenSteps): Promise<boolean>;
        needsGroups: boolean;
      }
    | undefined;
  /** If true, the groups of the users on the page are read. */
  withGroups: boolean;
  /** The SCIM request, for the log of exchanges. */
  requestId?: string | undefined;
}

type YieldBetweenSteps = ListScan<unknown>['yieldBetweenSteps'];

/** The dependencies for listing users. */
export interface ListUsersDeps {
  identities: Pick<Identities, 'find' | 'list' | 'findView'>;
  groups: Pick<Groups, 'groupsOf'>;
  existingUserFinder: ExistingUserFinder;
  scanQueue: ScanQueue;
  ownUsers: Pick<OwnUsers, 'lastKnown'>;
}

/** Returns one page of users. If a search for one person finds nothing, it asks the travel API once and searches again. */
export async function listUsers(
  deps: ListUsersDeps,
  connection: Connection,
  query: UserQuery,
): Promise<ListPage<ListedUser>> {
  const known = await listStored(deps, connection, query);
  const isNew = known.total === 0 && (await findsExistingUser(deps, connection, query));
  const { rows: views, ...rest } = isNew ? await listStored(deps, connection, query) : known;
  return {
    ...rest,
    rows: await toUserViews(deps, connection.id, { views, withGroups: query.withGroups }),
  };
}

/** Adds their groups to users; with `withGroups` false the groups stay empty and nothing is read. */
export async function toUserViews<View extends Pick<IdentityView, 'id' | 'inGroups'>>(
  { groups }: Pick<ListUsersDeps, 'groups'>,
  connection: string,
  { views, withGroups }: { views: View[]; withGroups: boolean },
): Promise<(View & Pick<UserView, 'groups'>)[]> {
  const members = withGroups ? views.filter(({ inGroups }) => inGroups) : [];
  if (members.length === 0) return views.map((identity) => ({ groups: [], ...identity }));
  const ids = members.map(({ id }) => id);
  const found = await groups.groupsOf(connection, ids);
  return views.map((identity) => ({ groups: found.get(identity.id) ?? [], ...identity }));
}

async function listStored(
  deps: ListUsersDeps,
  connection: Connection,
  query: UserQuery,
): Promise<ListPage<ListedIdentity>> {
  const { id } = connection;
  // The person whose credential the bridge uses is hidden while unclaimed.
  const hidden = await deps.ownUsers.lastKnown(id);
  return deps.scanQueue.run(id, (yieldBetweenSteps) => {
    const residual = residualFilter(deps, id, { query, yieldBetweenSteps });
    return deps.identities.list(id, query, { yieldBetweenSteps, residual }, hidden);
  });
}

function residualFilter(
  deps: ListUsersDeps,
  connection: string,
  { query: { residual }, yieldBetweenSteps }: { query: UserQuery; yieldBetweenSteps: YieldBetweenSteps },
): ListScan<ListedIdentity>['residual'] {
  if (!residual) return undefined;
  return async (views) => {
    const matching: boolean[] = [];
    for (const view of await toUserViews(deps, connection, { views, withGroups: residual.needsGroups })) {
      await yieldBetweenSteps();
      const desired = view.desired ?? (await deps.identities.findView(connection, view.id))?.desired;
      matching.push(
        desired !== undefined && (await residual.matches({ ...view, desired }, yieldBetweenSteps)),
      );
    }
    return matching;
  };
}

/**
 * If the filter asks for one person by userName or address and the store does not have that person, searches the travel
 * API. Returns true if the person was found there.
 */
async function findsExistingUser(
  { identities, existingUserFinder }: ListUsersDeps,
  connection: Connection,
  { where, requestId }: Pick<UserQuery, 'where' | 'requestId'>,
): Promise<boolean> {
  const comparison = comparisonWithPerson(where);
  if (!comparison) return false;
  const isWholeFilter = comparison === where;
  const value = String(comparison.value);
  const by = comparison.field === 'email' ? 'email' : 'userName';
  // If the store has the user and only the rest of the filter excludes it, a search of the travel API is pointless.
  const known = isWholeFilter ? [] : await identities.find(connection.id, { by, value });
  if (known.some(isLive)) return false;
  return existingUserFinder.find(connection, value, requestId);
}

/** Returns the part of the filter that compares the userName or the email address; undefined if there is none. */
function comparisonWithPerson(where: Where<UserField>): Comparison<UserField> | undefined {
  if ('any' in where) return undefined;
  if ('all' in where) return where.all.map(comparisonWithPerson).find((sought) => sought !== undefined);
  return where.field === 'userName' || where.field === 'email' ? where : undefined;
}

/** Interval at which a list yields to other requests, in milliseconds. */
const YIELD_MS = 5;
/** Time limit of a list, waiting included, in milliseconds. */
const MAX_LIST_MS = 5000;

export type ScanQueue = ReturnType<typeof scanQueue>;

/** Creates a queue in the memory of this process: long lists of one connection run one after the other; short lists never wait. */
export function scanQueue({ now }: Pick<Runtime, 'now'>) {
  const queues = new Map<string, Promise<void>>();
  return {
    /**
     * Runs `work`, which awaits `yieldBetweenSteps` between short steps. Once the work takes long, that call waits until the
     * earlier long lists of the connection have ended, and throws `tooMany` after the time limit.
     */
    run: async <T>(
      connection: string,
      work: (yieldBetweenSteps: YieldBetweenSteps) => Promise<T>,
    ): Promise<T> => {
      const turn = createTurn(queues, connection);
      const begun = now();
      let last = begun;
      const yieldBetweenSteps = async (): Promise<void> => {
        if (now() - last < YIELD_MS) return;
        await turn.begin();
        await new Promise((resolve) => setImmediate(resolve));
        last = now();
        if (last - begun > MAX_LIST_MS) throw tooManyError();
      };
      try {
        return await work(yieldBetweenSteps);
      } finally {
        turn.end();
      }
    },
  };
}

/** Creates the place of one list request in the queue of its connection. The first `begin` takes the place. */
function createTurn(queues: Map<string, Promise<void>>, connection: string) {
  let begun: Promise<void> | undefined;
  let release = () => {};
  return {
    begin: (): Promise<void> => {
      if (!begun) {
        begun = queues.get(connection) ?? Promise.resolve();
        const over = new Promise<void>((resolve) => {
          release = resolve;
        });
        const tail = begun.then(() => over);
        queues.set(connection, tail);
        void tail.then(() => {
          if (queues.get(connection) === tail) queues.delete(connection);
        });
      }
      return begun;
    },
    end: () => release(),
  };
}

function tooManyError(): ProvisioningError {
  return new ProvisioningError(
    'tooMany',
    'Too many resources must be looked at one by one. Add what is indexed: of users id, userName, externalId, emails and displayName with eq, all of these but id and name.givenName and name.familyName with sw, ew and co, active, meta.created, meta.lastModified; of groups id, displayName, externalId and members with eq, displayName with sw, ew and co, meta.created, meta.lastModified.',
  );
}
