import { readdir, readFile } from 'node:fs/promises';
import type { SignInBurst } from '../admin/sign-in/refused-sign-ins.ts';
import type { Alert } from '../alerts/channel.ts';
import { keyOf } from '../alerts/condition-alarms.ts';
import type { Condition, LocalFact } from '../model/conditions.ts';
import { numberText } from '../model/texts.ts';
import {
  type FoundConditions,
  findConditions,
  signInsText,
  suspicionText,
} from '../provisioning/conditions/conditions.ts';
import { type ConditionFacts, describeOutage, outageFact } from '../provisioning/conditions/facts.ts';
import { MIN_PEOPLE } from '../provisioning/people/foreign-values.ts';
import { missingGroupReader } from '../provisioning/rules/missing-groups.ts';
import { conditionFactReader } from '../store/condition-facts.ts';
import type { PeopleSummary } from '../store/identities/people-summaries.ts';
import { readAtMostEvery } from '../store/sql/queries.ts';
import { registerConditions } from './gauges.ts';
import type { HttpServer } from './http-server.ts';
import type { OpenProvisioning } from './open-provisioning.ts';
import type { ServerDeps, StartOptions } from './open-store.ts';

/** Interval of the readings for strangers, in milliseconds: each queries the database. */
const PUBLIC_MS = 1_000;
/** The same for file descriptors: every check of the conditions reads them. */
const CHECK_MS = 10_000;
/** With this share of its file descriptors open, a server needs more. */
const MANY_DESCRIPTORS = 0.9;

export type ServedConditions = ReturnType<typeof servedConditions>;

type Parts = Pick<ServerDeps, 'runtime' | 'database' | 'store' | 'writes' | 'signIns' | 'http'>;

/** Finds the conditions of a running server: from the database, from the facts of this process, and from those that other processes share. */
export function servedConditions(
  deps: Parts,
  opened: OpenProvisioning,
  { certificate }: Pick<HttpServer, 'certificate'>,
  { countMs }: Pick<StartOptions, 'countMs'>,
) {
  const { now } = deps.runtime;
  const stored = conditionFactReader(deps.database, now, countMs);
  const readMissingGroups = missingGroupReader(deps.store);
  const readDescriptors = readAtMostEvery(CHECK_MS, now, () => readDescriptorFacts(now()));
  const read = async (summaries?: PeopleSummary[]): Promise<FoundConditions> => {
    const known = await stored.read(summaries);
    const served = new Set(opened.connections.map(({ connection: { id } }) => id));
    const facts: ConditionFacts = {
      ...known,
      ...{
        now: now(),
        local: [...localFacts(deps, opened), ...(await readDescriptors())],
      },
      missingGroups: await readMissingGroups(
        known.connections.filter(({ connection }) => served.has(connection)),
      ),
      ...{ storeFault: deps.writes.failure(), certificate: certificate() },
    };
    return { conditions: findConditions(facts), facts };
  };
  const readForStrangers = readAtMostEvery(PUBLIC_MS, now, () => read());
  registerConditions(deps.http.metrics, readForStrangers);
  return {
    read,
    /** The same, read at most once a second. */
    readForStrangers,
    /** Says why the travel API of a connection cannot be used; undefined while it can. */
    findOutage: async (connection: string): Promise<string | undefined> =>
      describeOutage(connection, (await read()).facts),
  };
}

/** The facts that only this process has, from its own calls and its memory. */
function localFacts(
  { runtime, signIns }: Pick<Parts, 'runtime' | 'signIns'>,
  { provisioning, connections, suspicion }: OpenProvisioning,
): LocalFact[] {
  const now = runtime.now();
  const pauses = new Map(provisioning.pauses().map(({ connection, reason }) => [connection, reason]));
  const burst = signIns.refusedSignIns.lastBurst();
  return [
    ...connections.flatMap(({ connection: { id }, outage, staleLookups }): LocalFact[] => [
      ...outageFact(id, { outage: outage(), paused: pauses.get(id), now }),
      ...[staleLookups().join(', ')].flatMap((detail): LocalFact[] =>
        detail === '' ? [] : [{ kind: 'staleLookups', connection: id, since: now, detail }],
      ),
    ]),
    ...provisioning
      .mappingFaults()
      .flatMap((faults): LocalFact[] =>
        faults.count === 0 ? [] : [{ kind: 'mappingFaults', since: now, ...faults }],
      ),
    ...suspicion
      .counts()
      .flatMap(({ connection, people }): LocalFact[] =>
        people < MIN_PEOPLE ? [] : [{ kind: 'restoreSuspected', connection, since: now, count: people }],
      ),
    ...(burst ? [signInFact(burst)] : []),
  ];
}

function signInFact({ at, attempts }: SignInBurst): LocalFact {
  return { kind: 'signIns', connection: '', since: at, count: attempts };
}

/**
 * Tells that this process has few file descriptors left, where there is /proc. Node does not tell by itself: it accepts a connection for which
 * there is no descriptor, and closes it.
 */
async function readDescriptorFacts(now: number): Promise<LocalFact[]> {
  const fact = (detail: string): LocalFact[] => [
    { kind: 'fileDescriptors', connection: '', since: now, detail },
  ];
  try {
    const [limits, open] = await Promise.all([
      readFile('/proc/self/limits', 'utf8'),
      readdir('/proc/self/fd'),
    ]);
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
    const isShort = open.length >= MANY_DESCRIPTORS * limit;
    return isShort ? fact(`${numberText(open.length)} of ${numberText(limit)} are open`) : [];
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return code === 'EMFILE' || code === 'ENFILE' ? fact(code) : [];
  }
}

/** The open conditions for everybody: without subjects, which may be names that admins chose. */
export async function readPublicConditions({
  readForStrangers,
}: Pick<ServedConditions, 'readForStrangers'>): Promise<object[]> {
  const { conditions } = await readForStrangers();
  return conditions.map(({ kind, connection, severity, since, people, text }) => ({
    ...{ kind, connection, severity, people, text },
    since: since === undefined ? undefined : new Date(since).toISOString(),
  }));
}

/** An alert about an event that opens a condition. */
interface ConditionEvent extends Pick<Alert, 'type' | 'text' | 'data' | 'path' | 'incident'> {
  condition: Pick<Condition, 'kind' | 'connection'>;
}

/** Tells a restore and a burst of refused sign-ins at the moment in which they are recognised. */
export function tellEvents(
  {
    restoreWatch,
    signIns,
    suspicion,
  }: Pick<ServerDeps, 'restoreWatch' | 'signIns'> & Pick<OpenProvisioning, 'suspicion'>,
  send: (event: ConditionEvent) => void,
): void {
  restoreWatch.onRestored(() => {
    const text =
      'The database was restored from a backup: the travelers stay as they are until the identity provider states people again. Start a full synchronization there, and look at who differs.';
    const condition = { kind: 'restoredPeople' } as const;
    send({ type: 'restore.detected', text, data: {}, path: '/overview', condition });
  });
  suspicion.onSuspicion((connection, people) => {
    const text = suspicionText(people, ` of ${connection}`);
    const condition = { kind: 'restoreSuspected', connection } as const;
    send({ type: 'restore.suspected', text, data: { connection, people }, path: '/overview', condition });
  });
  signIns.refusedSignIns.onBurst(({ attempts }) => {
    const condition = { kind: 'signIns' } as const;
    const incident = { key: keyOf(condition), isOver: false };
    const text = signInsText(attempts);
    send({ type: 'signIns.refused', text, data: { attempts }, path: '/audit', condition, incident });
  });
}
