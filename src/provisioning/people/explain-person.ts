import { addressKey } from '../../model/addresses.ts';
import { bridgeDirections, type ExchangeLog, type LoggedExchange } from '../../model/exchange.ts';
import { shadowCalls } from '../../model/findings.ts';
import {
  type HoldCause,
  type Identity,
  type IdentityState,
  isInactive,
  isLive,
  nextCheckAt,
  type Succession,
  userNameOf,
} from '../../model/identity.ts';
import type { Identities, IdentityMatch, ReferenceRow, References } from '../../model/store-ports.ts';
import type { Finding, Lookups } from '../../model/translation.ts';
import type { RulesStore } from '../../store/queues/rules-in-force.ts';
import { expandTrace } from '../../translator/trace.ts';
import { type ExplainedField, explainFields, usedNames, withoutUndefined } from './explain-fields.ts';
import { searchedNames } from './identity-names.ts';

/**
 * The status of a person. `synced`: the traveler agrees with the identity provider. `noTraveler`: none
 * exists. `waiting`: the next attempt brings the traveler up to date. `archived`: the traveler has no access. `outOfScope`: the scope of the
 * mapping leaves the person out. `imported`: the traveler was found in the travel service, and no identity provider has written the user.
 */
export const personStatuses = [
  'synced',
  'archived',
  'noTraveler',
  'waiting',
  'held',
  'refused',
  'outOfScope',
  'imported',
] as const;

export type PersonStatus = (typeof personStatuses)[number];

/** The state of a person, and the reason for it. */
export interface Verdict {
  status: PersonStatus;
  /** The reason as a clause without capital and full stop; undefined if the status says it all. */
  because?: string;
  /** The start of the status, in epoch milliseconds; undefined if it is not stored. */
  since?: number;
  /** The time at which the next attempt is due, in epoch milliseconds. */
  until?: number;
}

/** A manager that the user's attributes name. */
export interface ExplainedReference {
  /** The value of the identity provider. */
  raw: string;
  /** `unknown`: no user has this value; `notLinked`: the user has no traveler yet; `circle`: the link would close one. */
  standing: 'resolved' | 'unknown' | 'notLinked' | 'self' | 'circle';
  id?: string;
  userName?: string;
  travelId?: string;
}

/** Everything that is stored about a person, in the order in which an admin reads it. */
export interface Explanation {
  connection: string;
  id: string;
  userName: string;
  isDeleted: boolean;
  state: IdentityState;
  verdict: Verdict;
  findings: Finding[];
  fields: ExplainedField[];
  references: ExplainedReference[];
  /** The judgement about the user in whose place the person is; undefined if there is none. */
  predecessor?: Succession;
  travelId?: string;
  version: number;
  /** The generation of the rules of the last translation (0: none), and that in force. */
  rulesGeneration: number;
  rulesInForce: number;
  /** The numbers of the mappings of both, as in the history of the mapping. */
  mappingVersion?: number;
  mappingInForce?: number;
  /** The failed attempts since the last success. */
  attempts: number;
  /** Epoch milliseconds. */
  createdAt: number;
  lastModified: number;
  deletedAt?: number;
  nextAttemptAt?: number;
  /** The time at which the traveler is read again, because a call may arrive late or a value is not confirmed; in epoch milliseconds. */
  checkAt?: number;
  /** The last requests of the identity provider and calls to the travel API about the person, the newest first. */
  exchanges: LoggedExchange[];
  /** The names of the resources, custom fields, options and managers that `fields` has as ids. */
  names: Record<string, string>;
}

/** The data from which an explanation is made, besides the identity. */
export interface ExplanationContext {
  references: ExplainedReference[];
  exchanges: LoggedExchange[];
  rulesInForce: number;
  mappingVersion?: number | undefined;
  mappingInForce?: number | undefined;
  lookups: Lookups | undefined;
  /** The reason for which the travel API cannot be used; undefined while it can. */
  outage: string | undefined;
  /** The present time, in epoch milliseconds. */
  now: number;
}

/** Explains a person from what is stored. Makes no calls. */
export function explainPerson(identity: Identity, context: ExplanationContext): Explanation {
  const { connection, id, state, travelId, version, deletedAt, attempts, progress } = identity;
  const { createdAt, lastModified, rulesGeneration, nextAttemptAt } = identity;
  const fields = explainFields(identity);
  const optional = {
    ...{ travelId, deletedAt, nextAttemptAt },
    ...{ mappingVersion: context.mappingVersion, mappingInForce: context.mappingInForce },
    predecessor: progress.predecessor,
    checkAt: nextCheckAt(identity),
  };
  return {
    ...{ connection, id, state, version, attempts, createdAt, lastModified, rulesGeneration, fields },
    ...withoutUndefined(optional),
    userName: userNameOf(identity),
    isDeleted: deletedAt !== undefined,
    verdict: verdictOn(identity, context),
    findings: identity.findings,
    references: context.references,
    exchanges: context.exchanges,
    rulesInForce: context.rulesInForce,
    names: namesIn(fields, context),
  };
}

/** The names of lookups, and of managers by the ids of their travelers and by their own. */
function namesIn(
  fields: ExplainedField[],
  { lookups, references }: Pick<ExplanationContext, 'lookups' | 'references'>,
): Record<string, string> {
  const managers = references.flatMap(({ id, travelId, userName }) =>
    userName === undefined ? [] : [id, travelId].flatMap((one) => (one ? [[one, userName] as const] : [])),
  );
  return { ...(lookups ? usedNames(fields, lookups) : {}), ...Object.fromEntries(managers) };
}

type VerdictContext = Pick<ExplanationContext, 'now' | 'outage'>;

/** Says in which state the person is, and why. */
export function verdictOn(identity: Identity, context: VerdictContext): Verdict {
  const { state, claimed, travelId, hold } = identity;
  const scopeReason = reasonOf(identity.findings, ({ code }) => code === 'outOfScope');
  switch (state) {
    case 'held':
      return {
        status: 'held',
        because: heldBecause(identity),
        ...(hold === undefined ? {} : { since: hold.since }),
      };
    case 'dirty':
      return waitingVerdict(identity, context);
    case 'refused':
      return { status: 'refused', because: refusedBecause(identity) };
    case 'pending':
      return { status: 'noTraveler', because: noTravelerBecause(identity) };
    case 'synced':
      if (!claimed && isLive(identity)) return { status: 'imported' };
      if (scopeReason !== undefined) return { status: 'outOfScope', because: scopeReason };
      if (travelId === undefined) return { status: 'noTraveler', because: goneBecause(identity) };
      return isArchived(identity) ? archivedVerdict(identity) : syncedVerdict(identity);
  }
}

/** The traveler may be active although the user is not: an admin has discarded the departure, or the travel API has not carried it out. */
function syncedVerdict({ findings }: Identity): Verdict {
  const isArchiveLacking = ({ code, field }: Finding) =>
    code === 'keptActive' || (code === 'notApplied' && field === 'archived');
  const because = reasonOf(findings, isArchiveLacking);
  return { status: 'synced', ...(because === undefined ? {} : { because }) };
}

function isArchived({ observed, applied }: Identity): boolean {
  return observed?.archived ?? applied.archived?.sent === true;
}

function archivedVerdict(identity: Identity): Verdict {
  const { deletedAt } = identity;
  if (deletedAt !== undefined)
    return {
      status: 'archived',
      because: 'the identity provider has deleted the user',
      since: deletedAt,
    };
  const because = isInactive(identity)
    ? 'the identity provider has deactivated the user'
    : 'somebody has archived the traveler in the travel service';
  return { status: 'archived', because };
}

function waitingVerdict(identity: Identity, { now, outage }: VerdictContext): Verdict {
  const { attempts, nextAttemptAt, leasedUntil, decision } = identity;
  // During an outage the running attempt is one of many.
  if (leasedUntil !== undefined && leasedUntil > now && outage === undefined)
    return { status: 'waiting', because: 'an attempt is running' };
  const planned: string[] = Object.values(shadowCalls).map(({ code }) => code);
  const isPlanned = identity.findings.some(({ code }) => planned.includes(code));
  if (isPlanned)
    return { status: 'waiting', because: 'the connection is in shadow mode, and the change is planned' };
  const isLater = nextAttemptAt !== undefined && nextAttemptAt > now;
  const until = isLater ? { until: nextAttemptAt } : {};
  const lateAddress = addressOfLateCreate(identity, now);
  if (attempts > 0 && lateAddress !== undefined)
    return {
      status: 'waiting',
      because: `the travel API did not answer the create for ${lateAddress} and may still carry it out: a create with the new address could make a second traveler`,
      ...until,
    };
  if (outage !== undefined) return { status: 'waiting', because: outage, ...until };
  if (attempts > 0)
    return {
      status: 'waiting',
      because: `${attempts === 1 ? 'the last attempt' : `the last ${attempts} attempts`} failed: the travel API could not be used, or the database failed (the log of the server says which)`,
      ...until,
    };
  const because = decision
    ? `an admin has ${decision.answer} the held change`
    : 'a change is due and no attempt has begun';
  return { status: 'waiting', because, ...until };
}

/** Returns the address of a create that the travel API may still carry out, if the user has another address since. */
function addressOfLateCreate({ creating, readAgainAt, trace }: Identity, now: number): string | undefined {
  if (!creating || readAgainAt === undefined || readAgainAt <= now) return undefined;
  const rule = expandTrace(trace).find(({ field, outcome }) => field === 'email' && outcome === 'set');
  const isOther = typeof rule?.after === 'string' && addressKey(rule.after) !== addressKey(creating.email);
  return isOther ? creating.email : undefined;
}

/** Which finding says why a change is held. */
const isHoldFinding = {
  safetyValve: ({ code, field }) => field === 'archived' && ['safetyValve', 'restored'].includes(code),
  guarded: ({ code }) => ['privileged', 'guarded'].includes(code),
  neverProvisioned: ({ code }) => code === 'neverProvisioned',
} satisfies Record<HoldCause, (finding: Finding) => boolean>;

function heldBecause({ hold, findings }: Identity): string {
  return (hold && reasonOf(findings, isHoldFinding[hold.cause])) ?? 'an admin must decide';
}

function refusedBecause({ findings }: Identity): string {
  const codes = ['ownCredential', 'forbidden', 'refusedByTravelApi'];
  return (
    reasonOf(findings, ({ code }) => codes.includes(code)) ??
    reasonOf(findings, () => true) ??
    'the travel API refuses the change'
  );
}

/** Without a traveler, a usable and free address is missing in most cases. */
function noTravelerBecause({ findings, waitingFor }: Identity): string {
  return (
    reasonOf(findings, ({ code }) => noTravelerCodes.includes(code)) ??
    reasonOf(findings, ({ field }) => field === 'email') ??
    reasonOf(findings, () => true) ??
    (waitingFor === undefined ? 'no traveler can be created' : 'another traveler has the email address')
  );
}

/** The findings of which each alone prevents a create, in the order of importance. */
const noTravelerCodes = [
  'scopeUnresolved',
  'emailTaken',
  'erasedTraveler',
  'emailHeldByLeaver',
  'emailReserved',
  'noEmail',
];

function goneBecause(identity: Identity): string {
  const { deletedAt, applied } = identity;
  const passedOn = reasonOf(identity.findings, ({ code }) =>
    ['passedOn', 'movedTo', 'otherPerson'].includes(code),
  );
  if (passedOn !== undefined && isInactive(identity)) return passedOn;
  if (deletedAt !== undefined) return 'the identity provider has deleted the user';
  if (!isInactive(identity)) return 'none was needed at the last attempt';
  return Object.keys(applied).length > 0
    ? 'the traveler was deleted in the travel service, and the user is inactive'
    : 'the user is inactive';
}

function reasonOf(findings: Finding[], isMeant: (finding: Finding) => boolean): string | undefined {
  const found = findings.find(isMeant);
  return found && toClause(found.reason);
}

/** Turns a sentence into a clause that follows `because`. */
function toClause(sentence: string): string {
  const text = sentence.replace(/\.$/, '');
  return text.startsWith('Jetbridge') ? text : `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

interface ExplainDeps {
  identities: Pick<Identities, 'findById' | 'find'>;
  references: Pick<References, 'findRows'>;
  rules: Pick<RulesStore, 'find' | 'findMappingNumber'>;
  exchanges: Pick<ExchangeLog, 'list'>;
  /** Says why the travel API of a connection cannot be used; undefined while it can. */
  findOutage(connection: string): Promise<string | undefined>;
}

/** The ways in which a person is found besides by SCIM id. */
const searched = ['userName', 'email', 'travelId', 'travelEmail'] satisfies IdentityMatch['by'][];

/**
 * Finds people by SCIM id, userName, email or travel user id in these connections, each once, deleted ones included.
 * The live ones come first.
 */
export async function findPeople(
  { identities }: Pick<ExplainDeps, 'identities'>,
  connections: string[],
  name: string,
): Promise<Identity[]> {
  const found = new Map<string, Identity>();
  for (const connection of connections) {
    const byId = await identities.findById(connection, name);
    const matches = byId ? [byId] : [];
    for (const by of searched) matches.push(...(await identities.find(connection, { by, value: name })));
    for (const identity of matches) found.set(`${connection} ${identity.id}`, identity);
  }
  const all = [...found.values()];
  return [...all.filter(isLive), ...all.filter((identity) => !isLive(identity))];
}

/** The number of exchanges in an explanation. */
const LAST_EXCHANGES = 6;

/** Reads what an explanation of the person needs, and explains. */
export async function readExplanation(
  deps: ExplainDeps,
  identity: Identity,
  now: number,
): Promise<Explanation> {
  const { connection, id } = identity;
  const person = { id, names: searchedNames(identity) };
  const query = { connection, person, direction: bridgeDirections, limit: LAST_EXCHANGES };
  const { exchanges } = await deps.exchanges.list(query);
  const rules = await deps.rules.find(connection);
  const rows = await deps.references.findRows(connection, id);
  const rulesInForce = rules?.generation ?? 0;
  const mappingVersion = await deps.rules.findMappingNumber(connection, identity.rulesGeneration);
  const mappingInForce = await deps.rules.findMappingNumber(connection, rulesInForce);
  const references = await Promise.all(rows.map((row) => explainReference(deps, identity, row)));
  return explainPerson(identity, {
    ...{ references, exchanges, now, rulesInForce, mappingVersion, mappingInForce },
    outage: await deps.findOutage(connection),
    lookups: rules?.lookups,
  });
}

async function explainReference(
  { identities }: Pick<ExplainDeps, 'identities'>,
  { connection, id }: Identity,
  { raw, target, travelId }: ReferenceRow,
): Promise<ExplainedReference> {
  if (target === undefined) return { raw, standing: 'unknown' };
  if (target === id) return { raw, standing: 'self', id };
  const manager = await identities.findById(connection, target);
  const known = { raw, id: target, ...(manager ? { userName: userNameOf(manager) } : {}) };
  if (travelId !== undefined) return { ...known, standing: 'resolved', travelId };
  return { ...known, standing: manager?.travelId === undefined ? 'notLinked' : 'circle' };
}
