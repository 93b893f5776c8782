import { type Condition, type ConditionKind, localKinds } from '../model/conditions.ts';
import type { Runtime } from '../model/runtime-ports.ts';
import { minuteText } from '../model/texts.ts';
import type { FoundConditions } from '../provisioning/conditions/conditions.ts';
import { mergeFacts } from '../provisioning/conditions/facts.ts';
import type { ReportedCondition, ReportedConditions } from '../store/queues/reported-conditions.ts';
import type { Alert } from './channel.ts';

/** Interval of comparing the conditions with the reported ones, in milliseconds. */
const CHECK_MS = 1_000;
/** The shortest time between two alerts about a growing number of people, in milliseconds. */
const AGAIN_MS = 10 * 60_000;
/**
 * A condition has ended after this many checks without it: a minute. One that comes and goes, such as a nearly full disk that has room for small
 * writes, is one condition.
 */
const CHECKS_WITHOUT = 60;
/** The same for conditions that each process finds by itself (`localKinds`): one that has just started has made no call yet. */
const LOCAL_CHECKS_WITHOUT = 120;
/** The interval at which a process records again a fact that it still finds, in milliseconds. */
const SEE_AGAIN_MS = 20_000;
/** Delay after a failure to read, in milliseconds. */
const FAULT_MS = 5_000;

type Step = 'opened' | 'grew' | 'cleared';

/** The alerts and log messages about the conditions of one kind. */
interface Announcement {
  /** The sentence that announces the end. */
  ended: string;
  /** The steps that are not announced here, because an alert of its own announces them: only the opening, or all. */
  toldElsewhere?: 'opening' | 'all';
  /** If true, a condition is announced only after it has lasted for `afterMs`: most conditions of the kind end by themselves. */
  isDelayed?: true;
  /** The factor by which the number of people must grow to be announced again; undefined: never. */
  growth?: number;
  /** If true, the code that notices the condition logs it. */
  isLoggedElsewhere?: true;
  /** The log messages; undefined: those that are common to all kinds. */
  log?: Record<Step, string>;
}

const announcements: Record<ConditionKind, Announcement> = {
  databaseUnwritable: { ended: 'The database can be written again.', isLoggedElsewhere: true },
  credentialRefused: { ended: 'The travel API accepts the credential again.' },
  travelOutage: { ended: 'The travel API gives usable answers again.', isDelayed: true },
  mappingFaults: { ended: 'The travel service knows all names of the mapping again.' },
  staleLookups: { ended: 'All lists of the travel API can be read again.', isDelayed: true },
  restoreSuspected: { ended: 'No restore is suspected any more.', toldElsewhere: 'all' },
  fileDescriptors: { ended: 'Every server has enough file descriptors.' },
  signIns: { ended: 'No burst of refused sign-ins in the last hour.', toldElsewhere: 'opening' },
  hold: {
    ended: 'No changes are held for this cause any more.',
    growth: 1,
    log: {
      opened: 'changes are held until an admin decides: see "npx jetbridge holds list"',
      grew: 'more changes are held until an admin decides: see "npx jetbridge holds list"',
      cleared: 'no changes are held for this cause any more',
    },
  },
  unclearAnswer: {
    ended: 'The travel API answers for all people again.',
    growth: 1,
    log: {
      opened:
        'a gateway may answer in place of the travel API (403 or 404 without an error code): see "npx jetbridge doctor"',
      grew: 'a gateway may answer in place of the travel API for more people: see "npx jetbridge doctor"',
      cleared: 'the travel API answers for all people again',
    },
  },
  notArchived: {
    ended: 'No traveler stays active after a deactivation any more.',
    growth: 1,
    log: {
      opened:
        'the travel API accepts deactivations, and travelers stay active: see "npx jetbridge people --finding notApplied"',
      grew: 'more travelers stay active after a deactivation: see "npx jetbridge people --finding notApplied"',
      cleared: 'no traveler stays active after a deactivation any more',
    },
  },
  importMaximum: {
    ended: 'Imports end before their maximum again.',
    growth: 1,
    log: {
      opened:
        'an import has ended at its maximum: check the travel API, or raise import.maximum in the settings',
      grew: 'an import has ended at a higher maximum: check the travel API, or raise import.maximum in the settings',
      cleared: 'imports end before their maximum again',
    },
  },
  importFailed: { ended: 'The import of travelers has ended without a failure.', isDelayed: true },
  importIncomplete: { ended: 'The last import read its list to the end, and enough of the known travelers.' },
  proposedRules: { ended: 'No rules wait for an admin any more.' },
  missingGroups: { ended: 'All groups that the mapping names exist.', isDelayed: true, growth: 1 },
  restoredPeople: {
    ended: 'Every traveler agrees with the restored database.',
    toldElsewhere: 'opening',
  },
  refusedPeople: { ended: 'The travel API no longer refuses many people.', growth: 2 },
  findings: { ended: 'This finding no longer concerns many people.', growth: 2 },
  certificateEnds: { ended: 'The certificate in TLS_CERT is valid for more than 30 days.' },
  tokenEnds: { ended: 'The token no longer ends soon: it was revoked or has ended.' },
  adminTokenEnds: { ended: 'The token no longer ends soon: it was revoked or has ended.' },
};

interface ConditionAlarmsDeps {
  conditions: { read(): Promise<FoundConditions> };
  reported: ReportedConditions;
  /** Sends alerts. `send` returns at once and never fails; delivery continues in the background. */
  alerts: { send(alert: Alert): void };
  /** An outage is told after this time, in milliseconds. */
  afterMs: number;
  runtime: Pick<Runtime, 'now' | 'wait' | 'log'>;
}

/** The state of a process between two checks. The maps are by the keys of conditions (`keyOf`). */
interface Memory {
  /** Set while this process has announced that the database cannot be written. Each process announces that, because none can claim it. */
  unwritable: { since: number; checksWithout: number } | undefined;
  firstSeen: Map<string, number>;
  checksWithout: Map<string, number>;
  /** The lowest number of people since the condition was announced last, at `toldAt`. */
  least: Map<string, { toldAt: number; people: number }>;
  /** The facts that this process found at the last check. */
  own: Map<string, FoundConditions['facts']['local'][number]>;
}

/** Starts the loop that logs and alerts when a condition opens, when its people grow, and when it has ended. */
export function conditionAlarms(deps: ConditionAlarmsDeps) {
  const stop = new AbortController();
  const ended = watch(deps, stop.signal);
  return {
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}

async function watch(deps: ConditionAlarmsDeps, signal: AbortSignal): Promise<void> {
  const { runtime } = deps;
  const memory: Memory = {
    unwritable: undefined,
    ...{ firstSeen: new Map(), checksWithout: new Map(), least: new Map(), own: new Map() },
  };
  let isFailing = false;
  while (!signal.aborted) {
    try {
      await check(deps, memory);
      isFailing = false;
    } catch (error) {
      if (!isFailing) runtime.log.error({ err: error }, 'the conditions could not be read; retrying');
      isFailing = true;
    }
    await runtime.wait(isFailing ? FAULT_MS : CHECK_MS, signal);
  }
}

async function check(deps: ConditionAlarmsDeps, memory: Memory): Promise<void> {
  const { conditions, facts } = await deps.conditions.read();
  const unwritable = conditions.find(({ kind }) => kind === 'databaseUnwritable');
  followUnwritable(deps, memory, unwritable);
  // The other steps write to the database, so that only one process announces each.
  if (unwritable) return;
  await shareFacts(deps, memory, facts);
  const reported = facts.reported.filter(
    ({ acknowledged: known }) => !known?.isOfKind || known.until <= facts.now,
  );
  const reports = new Map(reported.map((report) => [keyOf(report), report]));
  const current = new Map(conditions.map((condition) => [keyOf(condition), condition]));
  for (const [key, condition] of current) {
    memory.checksWithout.delete(key);
    await follow(deps, memory, condition, reports.get(key));
  }
  for (const key of memory.firstSeen.keys()) if (!current.has(key)) memory.firstSeen.delete(key);
  for (const [key, report] of reports) if (!current.has(key)) await end(deps, memory, report);
}

function followUnwritable(deps: ConditionAlarmsDeps, memory: Memory, condition: Condition | undefined): void {
  const known = memory.unwritable;
  if (condition) {
    if (!known && condition.acknowledged) return;
    if (!known) tell(deps, 'opened', condition);
    memory.unwritable = { since: known?.since ?? deps.runtime.now(), checksWithout: 0 };
  } else if (known) {
    const checksWithout = known.checksWithout + 1;
    const isOver = checksWithout >= CHECKS_WITHOUT;
    memory.unwritable = isOver ? undefined : { ...known, checksWithout };
    if (isOver) tell(deps, 'cleared', { kind: 'databaseUnwritable', since: known.since });
  }
}

type ConditionKey = Pick<Condition, 'kind' | 'connection' | 'subject'>;

function rowKeyOf({ kind, connection = '', subject = '' }: ConditionKey) {
  return { kind, connection, subject };
}

/** Returns the key of a condition, which is also that of its incident. */
export function keyOf(condition: ConditionKey): string {
  return JSON.stringify(rowKeyOf(condition));
}

/** Records for other processes the facts that this one finds by itself, and those that it no longer finds. */
async function shareFacts(
  { reported, runtime }: ConditionAlarmsDeps,
  memory: Memory,
  facts: FoundConditions['facts'],
): Promise<void> {
  const now = runtime.now();
  const merged = new Map(mergeFacts(facts).map((fact) => [keyOf(fact), fact]));
  const before = memory.own;
  memory.own = new Map();
  for (const key of facts.local.map(keyOf)) {
    const fact = merged.get(key);
    if (fact) memory.own.set(key, fact);
    const seenAt = facts.shared.find((one) => keyOf(one.fact) === key)?.seenAt ?? 0;
    if (fact && Math.abs(now - seenAt) >= SEE_AGAIN_MS) await reported.see(fact, now);
  }
  for (const [key, fact] of before) if (!memory.own.has(key)) await reported.see(fact, 0);
}

/** Announces a condition when it is due, again when its number of people has grown, and again when its acknowledgement has ended. */
async function follow(
  deps: ConditionAlarmsDeps,
  { firstSeen, least }: Memory,
  condition: Condition,
  report: ReportedCondition | undefined,
): Promise<void> {
  const { reported, runtime } = deps;
  const now = runtime.now();
  const key = keyOf(condition);
  const { growth, isDelayed } = announcements[condition.kind];
  const { people = 0, since = now } = condition;
  const begun = Math.min(firstSeen.get(key) ?? now, now);
  firstSeen.set(key, begun);
  if (report?.toldAt === undefined || (report.acknowledged && !condition.acknowledged)) {
    if ((isDelayed && now - begun < deps.afterMs) || condition.acknowledged) return;
    if (await reported.open({ ...rowKeyOf(condition), people, since }, now)) tell(deps, 'opened', condition);
    return;
  }
  const last = least.get(key);
  const lowest = last?.toldAt === report.toldAt ? last.people : report.people;
  least.set(key, { toldAt: report.toldAt, people: Math.min(lowest, people) });
  const hasGrown = growth !== undefined && people > lowest && people >= growth * lowest;
  if (!hasGrown || condition.acknowledged || Math.abs(now - report.toldAt) < AGAIN_MS) return;
  if (await reported.grow({ ...rowKeyOf(condition), people }, now, AGAIN_MS)) tell(deps, 'grew', condition);
}

async function end(deps: ConditionAlarmsDeps, memory: Memory, report: ReportedCondition): Promise<void> {
  const key = keyOf(report);
  const without = (memory.checksWithout.get(key) ?? 0) + 1;
  memory.checksWithout.set(key, without);
  const isLocal = localKinds.some((kind) => kind === report.kind);
  if (without < (isLocal ? LOCAL_CHECKS_WITHOUT : CHECKS_WITHOUT)) return;
  memory.checksWithout.delete(key);
  memory.least.delete(key);
  const endedAt = deps.runtime.now() - without * CHECK_MS;
  if (await deps.reported.clear(report, endedAt)) tell(deps, 'cleared', { ...report, people: 0 });
}

type Told = Pick<Condition, 'kind'> &
  Partial<Omit<Condition, 'severity'>> & { severity?: Condition['severity'] };

/** Logs a step of a condition and sends its alert. */
function tell({ alerts, runtime }: ConditionAlarmsDeps, step: Step, condition: Told): void {
  const { kind, connection, subject, people, since, severity = 'warning', text = '', path } = condition;
  const { ended, toldElsewhere, isLoggedElsewhere, log } = announcements[kind];
  if (toldElsewhere === 'all' || (toldElsewhere === 'opening' && step === 'opened')) return;
  const sinceText = since === undefined ? undefined : new Date(since).toISOString();
  // The data of kinds that have existed before conditions.
  const data = log
    ? { connection, cause: subject || kind, count: people, since: sinceText }
    : { connection: connection || undefined, subject: subject || undefined, people, since: sinceText };
  const level = step === 'cleared' ? 'info' : log || severity === 'failing' ? 'error' : 'warn';
  const isEnd = step === 'cleared';
  const sentence = isEnd ? endText(ended, condition) : text;
  if (!isLoggedElsewhere)
    runtime.log[level](
      log ? data : { kind, ...data, text: sentence },
      log?.[step] ?? (isEnd ? 'a condition has ended' : 'a condition needs attention'),
    );
  alerts.send({
    ...{ type: `${kind}.${step}`, at: runtime.now(), severity: isEnd ? 'info' : severity },
    ...{ text: sentence, data, path },
    incident: { key: keyOf(condition), isOver: isEnd },
  });
}

/** Says what has ended: the sentence of the kind, with subject, connection and begin of the condition. */
function endText(ended: string, { connection, subject, since }: Told): string {
  const details = [
    subject,
    connection && `connection ${connection}`,
    since !== undefined && `since ${minuteText(since)}`,
  ].filter(Boolean);
  return details.length === 0 ? ended : `${ended.replace(/\.$/, '')} (${details.join(', ')}).`;
}
