import type { Connection } from '../model/connection.ts';
import type { Runtime } from '../model/runtime-ports.ts';
import type { AssignableRole } from '../model/translation.ts';
import type { ProvisioningStore } from '../store/provisioning-store.ts';
import { runOutside, type Tracing } from '../tracing/tracing.ts';
import type { Mapping } from '../translator/mapping/mapping-file.ts';
import { assignableRoles } from '../translator/values/role-names.ts';
import { type Background, type BackgroundLoops, background, reconcileDue } from './background.ts';
import { type CircuitBreaker, circuitBreaker } from './calls/circuit-breaker.ts';
import { pausingConnection, recordedLookups } from './calls/guarded-calls.ts';
import { type OwnUsers, ownUsers } from './calls/own-users.ts';
import { groupService } from './groups/groups.ts';
import { feedFollower } from './import/event-feed.ts';
import { type Importer, importer } from './import/import.ts';
import {
  applyMapping,
  type MappingChange,
  type MappingChangeResult,
} from './mapping-changes/apply-mapping.ts';
import { mappingPreviewer } from './mapping-changes/preview-mapping.ts';
import type { ForeignValues } from './people/foreign-values.ts';
import { type Reconciler, reconciler } from './reconcile/run/reconciler.ts';
import type { ConnectionWithMapping } from './rules/configured-mapping.ts';
import { type MappingFileResult, rulesSnapshots } from './rules/rules-snapshots.ts';
import { type ExistingUserFinder, existingUserFinder } from './users/find-existing.ts';
import { scanQueue } from './users/list-users.ts';
import { userService } from './users/users.ts';
import { writer } from './users/write.ts';
import { type WakeSignal, wakeSignal } from './wake-signal.ts';

interface ServiceOptions {
  store: ProvisioningStore;
  connections: ConnectionWithMapping[];
  runtime: Runtime;
  /** The time for which a SCIM write waits for the travel API before it is answered, in milliseconds. */
  writeBudgetMs: number;
  /** Called after each write of an IdP that may have changed something. */
  onWrite?: () => void;
  /** Sees every identity as an attempt at it begins. */
  foreignValues?: Pick<ForeignValues, 'observe'>;
  /** Undefined: background work has no spans. */
  tracing?: Tracing | undefined;
}

export type ProvisioningService = ReturnType<typeof provisioningService>;

/**
 * Creates everything that the SCIM interface, the commands and the server use of provisioning, for these connections. All parts of
 * this folder are wired together here.
 */
export function provisioningService(options: ServiceOptions) {
  const states = connectionStates(options);
  const stateOf = states.of;
  const deps = createDeps(options, states);
  let loops: BackgroundLoops | undefined;
  return {
    ...idpServices(deps, options),
    importer: deps.importer,
    mappingPreviewer: mappingPreviewer(deps),
    mappingFaults: deps.rulesSnapshots.mappingFaults,
    ...mappingServices(deps, states),
    /** Reconciles every identity that is due, until none is left, and returns the number of attempts. */
    reconcileDue: async (): Promise<number> => {
      let attempts = 0;
      for (const { connection } of states.all())
        for (let made = 1; made > 0; attempts += made) made = await reconcileDue(deps, connection);
      return attempts;
    },
    /** Makes the background work of this process look at once for identities that are due. */
    wake: deps.wake,
    idle: deps.reconciler.idle,
    /** Returns for each connection why its circuit breaker is open; undefined while it is closed. */
    pauses: () =>
      states.all().map((state) => ({
        ...{ connection: state.connection.id, reason: state.circuitBreaker.pauseReason() },
      })),
    /** Starts the background loops. Without them, only writes cause reconciliations. */
    startBackground: (): Background => {
      loops = startLoops(deps, states);
      return loops;
    },
    /** Serves one more connection, in the background too if the loops have been started. */
    addConnection: (connection: ConnectionWithMapping): void => {
      states.add(connection);
      runOutside(deps.tracing, () => loops?.add(stateOf(connection).pausingConnection));
    },
    /** Serves a connection no longer; resolves when the loops have ended their work for it. */
    removeConnection: async (id: string): Promise<void> => {
      await loops?.remove(id);
      states.remove(id);
      deps.rulesSnapshots.forget(id);
    },
  };
}

/** What admins and mapping files do with the rules in force. */
function mappingServices(deps: ReturnType<typeof createDeps>, { of: stateOf, all }: ConnectionStates) {
  return {
    /** Puts a mapping file in force that was read again, if its content has changed. */
    applyMappingFile: async (connection: string, mapping: Mapping): Promise<MappingFileResult> => {
      const state = stateOf({ id: connection });
      const result = await deps.rulesSnapshots.applyFile(state.connection, mapping);
      if (result.outcome === 'applied' || result.outcome === 'proposed') state.rulesSignal.wake();
      return result;
    },
    /** Puts a mapping of an admin in force, unless another one has replaced the expected one, or it has to wait (`applyMapping`). */
    applyMapping: async (
      connection: { id: string },
      change: MappingChange,
      signal?: AbortSignal,
    ): Promise<MappingChangeResult> => {
      const state = stateOf(connection);
      const result = await applyMapping(deps, state.connection, { change, signal });
      if (result.outcome !== 'unchanged') state.rulesSignal.wake();
      return result;
    },
    /** Makes all connections read their rules again soon. */
    refreshRules: (): void => {
      for (const { rulesSignal } of all()) rulesSignal.wake();
    },
    /** Makes each connection read its rules again whose rules another process has replaced. */
    followRules: (inForce: readonly { connection: string; generation: number }[]): void => {
      for (const { connection, rulesSignal } of all()) {
        const generation = inForce.find((one) => one.connection === connection.id)?.generation ?? 0;
        if (deps.rulesSnapshots.isBehind(connection.id, generation)) rulesSignal.wake();
      }
    },
    /** Returns the rules in force of a connection, and its lookups. */
    currentRules: (connection: Connection) => deps.rulesSnapshots.inForce(stateOf(connection).connection),
  };
}

/** The services that IdPs write. */
function idpServices(
  deps: ReturnType<typeof createDeps>,
  { writeBudgetMs: budgetMs, onWrite = () => {} }: ServiceOptions,
) {
  const users = userService({ ...deps, writer: writer({ ...deps, budgetMs }) });
  return {
    users: countedWrites(users, onWrite),
    groups: countedWrites(groupService(deps), onWrite),
    /** Returns the roles that the IdP of a connection may give. */
    roles: async (connection: string): Promise<AssignableRole[]> => {
      const { rules } = await deps.rulesSnapshots.loaded(deps.connectionOf(connection));
      return assignableRoles(rules.mapping);
    },
  };
}

/** The operations of users and groups that write. */
interface Writes {
  create(...values: never[]): Promise<unknown>;
  change(...values: never[]): Promise<unknown>;
  remove(...values: never[]): Promise<unknown>;
}

/** Returns the service with a call of `onWrite` after each write, also after one that is refused: it may be committed. */
function countedWrites<Service extends Writes>(service: Service, onWrite: () => void): Service {
  const counted =
    <Values extends unknown[], T>(write: (...values: Values) => Promise<T>) =>
    (...values: Values): Promise<T> =>
      write(...values).finally(onWrite);
  const { create, change, remove } = service;
  return { ...service, create: counted(create), change: counted(change), remove: counted(remove) };
}

function startLoops(deps: ReturnType<typeof createDeps>, { of: stateOf, all }: ConnectionStates) {
  return background({
    ...deps,
    connections: all().map(({ pausingConnection }) => pausingConnection),
    reconcileSignalOf: (connection) => stateOf(connection).reconcileSignal,
    importSignalOf: (connection) => stateOf(connection).importSignal,
    rulesSignalOf: (connection) => stateOf(connection).rulesSignal,
    membershipsSignalOf: (connection) => stateOf(connection).membershipsSignal,
    feedFollowerOf: (connection, source, position) => {
      const refreshRules = () => stateOf(connection).rulesSignal.wake();
      return feedFollower({ ...deps, refreshRules }, connection, { source, position });
    },
  });
}

/** The states of all connections of the process. */
interface ConnectionStates {
  ownUsers: OwnUsers;
  of(connection: { id: string }): ConnectionState;
  all(): ConnectionState[];
  add(connection: ConnectionWithMapping): void;
  remove(id: string): void;
}

/**
 * Each part takes the dependencies that it needs from one object. Reconciliations and searches ask the circuit breaker themselves; an
 * import gets a connection that asks it.
 */
function createDeps({ store, runtime, foreignValues, tracing }: ServiceOptions, states: ConnectionStates) {
  const stateOf = states.of;
  const connectionOf = (id: string) => stateOf({ id }).connection;
  const shared = {
    ...store,
    ...{ runtime, foreignValues, tracing },
    rulesSnapshots: rulesSnapshots({ rules: store.rules, runtime, configuredMappingOf: connectionOf }),
    scanQueue: scanQueue(runtime),
    ownUsers: states.ownUsers,
    connectionOf,
    circuitBreakerOf: (connection: Connection) => stateOf(connection).circuitBreaker,
    wake: () => {
      for (const { reconcileSignal } of states.all()) reconcileSignal.wake();
    },
    wakeForMembers: (id: string) => {
      const { reconcileSignal, membershipsSignal } = stateOf({ id });
      reconcileSignal.wake();
      membershipsSignal.wake();
    },
  };
  const { reconcile, plan, ...otherReconciler } = reconciler(shared);
  const { find } = existingUserFinder(shared);
  const { run: runImport } = importer(shared);
  const importing: Importer = {
    run: (connection, ...options) => runImport(stateOf(connection).pausingConnection, ...options),
  };
  return {
    ...shared,
    runImport,
    reconciler: {
      ...otherReconciler,
      reconcile: (connection, id, requestId) => reconcile(stateOf(connection).connection, id, requestId),
      plan: (connection, write) => plan(stateOf(connection).connection, write),
    } satisfies Reconciler,
    existingUserFinder: {
      find: (connection, address, requestId) => find(stateOf(connection).connection, address, requestId),
    } satisfies ExistingUserFinder,
    importer: importing,
  };
}

/** The state that a process keeps in memory for one connection. */
interface ConnectionState {
  /** Reconciliations and searches use it: they ask the circuit breaker, and tell it of each result. */
  connection: ConnectionWithMapping;
  /** Fails every call while the circuit breaker is open; used by imports, the event feed and rules. */
  pausingConnection: Connection;
  circuitBreaker: CircuitBreaker;
  reconcileSignal: WakeSignal;
  importSignal: WakeSignal;
  rulesSignal: WakeSignal;
  membershipsSignal: WakeSignal;
}

function connectionStates({ connections, store, runtime }: ServiceOptions): ConnectionStates {
  const own = ownUsers({ tasks: store.tasks, runtime });
  const create = (connection: ConnectionWithMapping) => newState(connection, runtime);
  const states = new Map(connections.map((connection) => [connection.id, create(connection)]));
  return {
    ownUsers: own,
    of: ({ id }) => {
      const state = states.get(id);
      if (!state) throw new Error(`there is no connection ${id}`);
      return state;
    },
    all: () => [...states.values()],
    add: (connection) => void states.set(connection.id, create(connection)),
    remove: (id) => void states.delete(id),
  };
}

function newState(plain: ConnectionWithMapping, { now, log }: Runtime): ConnectionState {
  const { id } = plain;
  const breaker = circuitBreaker({
    opened: (reason, ms) => {
      log.warn(
        { connection: id, reason, ms },
        'calls to the travel API are paused; changes wait in the queue',
      );
    },
    closed: (reason) => log.info({ connection: id, reason }, 'calls to the travel API are resumed'),
  });
  const connection = { ...plain, lookups: recordedLookups(plain.lookups, { breaker, now }) };
  return {
    connection,
    pausingConnection: pausingConnection(connection, { breaker, now }),
    circuitBreaker: breaker,
    reconcileSignal: wakeSignal(),
    importSignal: wakeSignal(),
    rulesSignal: wakeSignal(),
    membershipsSignal: wakeSignal(),
  };
}
