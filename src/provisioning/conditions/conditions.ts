import type { Condition, LocalFact } from '../../model/conditions.ts';
import { shadowCalls } from '../../model/findings.ts';
import type { AlarmCount } from '../../model/holds.ts';
import type { HoldCause } from '../../model/identity.ts';
import {
  countText,
  dayText,
  durationText,
  minuteText,
  numberText,
  peopleText,
  toWords,
  upperFirst,
} from '../../model/texts.ts';
import type { EndingToken } from '../../store/condition-facts.ts';
import type { PeopleSummary } from '../../store/identities/people-summaries.ts';
import { importFailedSince, isIncompleteImport, lastImportOf } from '../import/import.ts';
import type { MissingGroups } from '../rules/missing-groups.ts';
import { acknowledgementOf, type ConditionFacts, isOutage, mergeFacts, outageClause } from './facts.ts';

/** The conditions, and the facts from which they were found. */
export interface FoundConditions {
  conditions: Condition[];
  facts: ConditionFacts;
}

/** Certificates and tokens that end within this time are told, in milliseconds. */
const SOON_MS = 30 * 24 * 60 * 60_000;
/** Without a waiting change, a travel API is told to be away after this time, in milliseconds: one lost call is no outage. */
const UNUSED_MS = 30_000;

/**
 * A kind of finding concerns many from twenty people on who are a tenth of the connection: fewer are work of every day, and more are
 * mostly a fault of the mapping or of a list. Five thousand are always many; a count of findings ends at some ten thousands.
 */
const MANY_FINDINGS = { share: 0.1, least: 20, most: 5_000 };
/** Refusals are rarer than findings, and leave people with what they had: five who are a hundredth are many. */
const MANY_REFUSED = { share: 0.01, least: 5, most: 500 };

/** A condition, or false while it is not open. */
type Found = Condition | false;

/** Finds all conditions: those that fail first. Every sentence about the state of the service comes from here. */
export function findConditions(facts: ConditionFacts): Condition[] {
  const isNamed = facts.summaries.length > 1;
  const found = [
    databaseCondition(facts),
    ...mergeFacts(facts).map((fact) => localCondition(fact, facts, isNamed)),
    ...facts.counts.map((count) => countedCondition(count, isNamed)),
    ...importConditions(facts, isNamed),
    ...facts.connections.map((connection) => proposedCondition(connection, isNamed)),
    ...facts.missingGroups.map((missing) => groupCondition(missing, isNamed)),
    ...facts.summaries.flatMap((summary) => peopleConditions(summary, isNamed)),
    certificateCondition(facts),
    ...facts.tokens.map((token) => tokenCondition(token, facts.now)),
  ].filter((one) => one !== false);
  const rank = ({ severity }: Condition) => (severity === 'failing' ? 0 : 1);
  return found
    .map((one) => ({ ...one, acknowledged: acknowledgementOf(facts.reported, one, facts.now) }))
    .toSorted((one, other) => rank(one) - rank(other));
}

function databaseCondition({ storeFault }: ConditionFacts): Found {
  return (
    storeFault !== undefined && {
      ...{ kind: 'databaseUnwritable', severity: 'failing', command: 'npx jetbridge doctor' },
      text: `The database cannot be written: ${storeFault}.`,
    }
  );
}

/** A condition that a process sees by itself. */
function localCondition(fact: LocalFact, facts: ConditionFacts, isNamed: boolean): Found {
  const { kind, connection, since, count = 0, detail = '' } = fact;
  const of = isNamed ? ` of ${connection}` : '';
  const id = encodeURIComponent(connection);
  const base = { connection, since, severity: 'warning' as const };
  switch (kind) {
    case 'travelOutage':
    case 'credentialRefused':
      return outageCondition(fact, facts, of);
    case 'mappingFaults':
      return {
        ...{ ...base, kind, people: count, path: `/mappings?connection=${id}` },
        text: `The mapping${of} has ${countText(count, 'name', 'names')} that the travel service does not know; these fields stay as they are.`,
        command: 'npx jetbridge check',
      };
    case 'staleLookups':
      return (
        !isAway(connection, facts) && {
          ...{ ...base, kind, path: `/traffic?connection=${id}&direction=travel` },
          text: `Lists of the travel API${of} can no longer be read (${detail}); older values serve.`,
        }
      );
    case 'restoreSuspected':
      return {
        ...{ ...base, kind, people: count, path: '/overview' },
        text: suspicionText(count, of),
        command: 'npx jetbridge restored',
      };
    case 'fileDescriptors':
      return {
        ...{ ...base, kind, connection: undefined, severity: 'failing' },
        text: `A server has few file descriptors left (${detail}) and soon accepts no connection: raise its limit (ulimit -n).`,
        command: 'npx jetbridge doctor',
      };
    case 'signIns':
      return {
        ...{ ...base, kind, connection: undefined, people: count, path: '/audit' },
        text: signInsText(count),
        command: 'npx jetbridge audit',
      };
  }
}

/** Tells that a database may have been restored. `of` names the connection. */
export function suspicionText(people: number, of: string): string {
  return `The travelers of ${peopleText(people)}${of} had values that were never sent, after a time without a server: if the database was restored, tell so now, before old values are sent; otherwise somebody has entered these values in the travel service.`;
}

/** Tells a burst of refused sign-ins. */
export function signInsText(attempts: number): string {
  return `${numberText(attempts)} sign-ins to the admin page were refused within ten minutes.`;
}

/** True during an outage, in which imports and readings of lists fail, too: the outage alone is told. */
function isAway(connection: string, facts: ConditionFacts): boolean {
  return mergeFacts(facts).some((fact) => fact.connection === connection && isOutage(fact));
}

/** An outage is told as soon as changes wait for it, or once it has lasted. */
function outageCondition(fact: LocalFact, { summaries, now }: ConditionFacts, of: string): Found {
  const { kind, connection, since, pause } = fact;
  const { states, failing } = summaries.find((one) => one.connection === connection) ?? {};
  if (pause === undefined && !failing && now - since < UNUSED_MS) return false;
  const waiting = states?.dirty ?? 0;
  // A change that was written long ago can have been waiting since the outage only.
  const oldest = failing ? `, the oldest for ${durationText(now - Math.max(failing.oldest, since))}` : '';
  const changes = `${countText(waiting, 'change waits', 'changes wait')}${oldest}`;
  return {
    ...{ kind, connection, since, severity: 'failing', people: waiting },
    text: `${upperFirst(outageClause(fact, of))}; ${waiting === 0 ? 'no change waits for it' : changes}.`,
    path: `/traffic?connection=${encodeURIComponent(connection)}&direction=travel`,
    command: 'npx jetbridge doctor',
  };
}

const holdReasons: Record<HoldCause, string> = {
  safetyValve: 'the safety valve has stopped these departures',
  guarded: 'the travelers administer the travel service',
  neverProvisioned: 'the identity provider has deleted people whom it had never sent',
};

/** Returns the condition of held people, or of other people about whom an operator is alarmed. */
function countedCondition({ connection, cause, count, since }: AlarmCount, isNamed: boolean): Condition {
  const of = isNamed ? ` of ${connection}` : '';
  const base = { connection, since, people: count };
  const id = encodeURIComponent(connection);
  switch (cause) {
    case 'unclearAnswer':
      return {
        ...{ ...base, kind: cause, severity: 'warning', path: `/people?finding=${cause}&connection=${id}` },
        text: `The answers about ${peopleText(count)}${of} may come from a gateway in place of the travel API.`,
        command: 'npx jetbridge doctor',
      };
    case 'notArchived':
      return {
        ...{ ...base, kind: cause, severity: 'failing', path: `/people?finding=notApplied&connection=${id}` },
        text: `The travel API has accepted the deactivation of ${peopleText(count)}${of}, and their travelers stay active.`,
        command: 'npx jetbridge people --finding notApplied',
      };
    default:
      return {
        ...{ ...base, kind: 'hold', subject: cause, severity: 'warning', path: `/decisions/${id}/${cause}` },
        text: `Changes of ${peopleText(count)}${of} are held: ${holdReasons[cause]}.`,
        command: 'npx jetbridge holds list',
      };
  }
}

function importConditions(facts: ConditionFacts, isNamed: boolean): Found[] {
  return facts.connections.flatMap(({ connection, importState: state }): Found[] => {
    const of = isNamed ? ` of ${connection}` : '';
    const [failedSince, last] = [importFailedSince(state), lastImportOf(state)];
    const base = { connection, severity: 'warning' as const, path: '/overview' };
    return [
      failedSince !== undefined &&
        !isAway(connection, facts) && {
          ...{ ...base, kind: 'importFailed', since: failedSince },
          text: `The import of travelers${of} fails since ${minuteText(failedSince)}; it is tried again every minute.`,
          command: 'npx jetbridge doctor',
        },
      isIncompleteImport(state) && {
        ...{ ...base, kind: 'importIncomplete', since: last?.at },
        text: incompleteText(last, of),
      },
      last?.maximum !== undefined && {
        ...{ ...base, kind: 'importMaximum', since: last.at, people: last.maximum },
        text: `The last import${of} has ended at its maximum of ${countText(last.maximum, 'traveler', 'travelers')}.`,
      },
    ];
  });
}

function incompleteText(last: ReturnType<typeof lastImportOf>, of: string): string {
  if (!last?.endedEarly)
    return `The last import${of} listed too few of the known travelers to conclude that the others are gone.`;
  const { total } = last.endedEarly;
  const read =
    total === undefined
      ? countText(last.read, 'traveler', 'travelers')
      : `${numberText(last.read)} of ${countText(total, 'traveler', 'travelers')}`;
  return `The last import${of} read ${read} before its pages repeated or ended: nobody is taken for gone.`;
}

function proposedCondition(
  { connection, proposedSince: since }: ConditionFacts['connections'][number],
  isNamed: boolean,
): Found {
  const of = isNamed ? ` of ${connection}` : '';
  return (
    since !== undefined && {
      ...{ kind: 'proposedRules', connection, severity: 'warning', since },
      text: `Other rules${of} wait for an admin, because they would change more than 100 people; the rules in force stay so.`,
      path: '/decisions',
      command: 'npx jetbridge mapping proposed',
    }
  );
}

/** Tells groups without their names, which may say more than everybody may know. */
function groupCondition({ connection, count }: MissingGroups, isNamed: boolean): Condition {
  const of = isNamed ? ` of ${connection}` : '';
  return {
    ...{ kind: 'missingGroups', connection, severity: 'warning', people: count },
    text: `The mapping${of} names ${countText(count, 'group', 'groups')} that the identity provider has not sent, or has renamed or deleted.`,
    path: `/mappings?connection=${encodeURIComponent(connection)}`,
    command: 'npx jetbridge doctor',
  };
}

/** Findings that are a decision, a plan or a wait by themselves, or that another condition tells. */
const expectedFindings = new Set<string>([
  ...Object.values(shadowCalls).map(({ code }) => code),
  ...['keptActive', 'outOfScope', 'passedOn', 'otherPerson', 'movedTo', 'movedFrom', 'erasedTraveler'],
  ...['restored', 'safetyValve', 'guarded', 'privileged', 'neverProvisioned'],
  ...['notDeleted', 'rolePreexisting', 'managerNotLinked', 'unconfirmed'],
  ...['emailReserved', 'emailHeldByLeaver', 'unclearAnswer', 'forbidden', 'refusedByTravelApi'],
]);

function peopleConditions({ connection, states, findings }: PeopleSummary, isNamed: boolean): Found[] {
  const of = isNamed ? ` of ${connection}` : '';
  const total = Object.values(states).reduce((sum, one) => sum + one, 0);
  const all = peopleText(total);
  const base = { connection, severity: 'warning' as const };
  const isTold = (code: string, people: number) =>
    !expectedFindings.has(code) && isMany(people, total, MANY_FINDINGS);
  const restored = findings.get('restored') ?? 0;
  return [
    restored > 0 && {
      ...{ ...base, kind: 'restoredPeople', people: restored },
      text: `The database was restored from a backup, and ${countText(restored, `traveler${of} differs`, `travelers${of} differ`)} from it: they stay so until the identity provider states these people, or an admin has the stored values sent again.`,
      path: `/people?finding=restored&connection=${encodeURIComponent(connection)}`,
      command: 'npx jetbridge people --finding restored',
    },
    isMany(states.refused, total, MANY_REFUSED) && {
      ...{ ...base, kind: 'refusedPeople', people: states.refused },
      text: `The travel API${of} refuses ${numberText(states.refused)} of ${all}.`,
      path: `/people?state=refused&connection=${encodeURIComponent(connection)}`,
      command: 'npx jetbridge people --state refused',
    },
    ...[...findings].map(
      ([code, people]): Found =>
        isTold(code, people) && {
          ...{ ...base, kind: 'findings', subject: code, people },
          text: `${upperFirst(toWords(code))} for ${numberText(people)} of ${all}${of}.`,
          path: `/people/findings?finding=${code}`,
          command: `npx jetbridge people findings --finding ${code}`,
        },
    ),
  ];
}

function isMany(
  people: number,
  total: number,
  { share, least, most }: { share: number; least: number; most: number },
): boolean {
  return people >= least && (people >= most || people >= share * total);
}

function tokenCondition({ kind, connection, name, expiresAt }: EndingToken, now: number): Found {
  if (expiresAt <= now || expiresAt - now >= SOON_MS) return false;
  const base = { kind, connection, subject: name, severity: 'warning' as const };
  const end = dayText(expiresAt);
  if (kind === 'adminTokenEnds')
    return { ...base, path: '/access/tokens', text: `A token of a script ends on ${end}.` };
  const command = `npx jetbridge tokens create --connection ${connection}`;
  return {
    ...base,
    path: '/connect',
    command,
    text: `A token of the connection ${connection} ends on ${end}.`,
  };
}

function certificateCondition({ certificate, now }: ConditionFacts): Found {
  if (!certificate || (certificate.validTo - now >= SOON_MS && certificate.validFrom <= now)) return false;
  const { validFrom, validTo } = certificate;
  const [begin, end] = [dayText(validFrom), dayText(validTo)];
  const is = validFrom > now ? `begins on ${begin}` : validTo <= now ? `ended on ${end}` : `ends on ${end}`;
  return {
    ...{ kind: 'certificateEnds', severity: validTo <= now || validFrom > now ? 'failing' : 'warning' },
    ...{ text: `The certificate in TLS_CERT ${is}.`, command: 'npx jetbridge doctor' },
  };
}
