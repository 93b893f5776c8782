import { isDeepStrictEqual } from 'node:util';
import type { ScimResource } from '../../schema/resource.ts';
import type { FieldKey } from '../../translator/translation.ts';
import type { ConnectionSettings } from '../connection.ts';
import { findings, type PlannedCall } from '../findings.ts';
import type { Identity } from '../identity.ts';
import type { Announcement, IdentityChange } from '../store-ports.ts';
import { withOrigin } from '../users/left-out-values.ts';
import {
  newDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withProgress,
} from './context.ts';
import type { Effect, Program } from './effects.ts';
import { translateNewUser } from './translate-identity.ts';
import { withUnconfirmedFindings } from './unconfirmed-values.ts';

/**
 * Reconciles an identity of a paused connection. Until an IdP has written it during the pause, the attempt ends before the first call
 * with an effect, and says what that would have been. An identity that was written then is sent as the IdP states it, after its
 * traveler was read.
 */
export function* reconcileInPause(
  context: ReconcileContext,
  pausedAt: number,
  reconcile: (context: ReconcileContext) => Program<ReconcileResult>,
): Program<ReconcileResult> {
  const { identity } = context;
  const written = identity.origin.writtenInPause;
  if (written?.pausedAt !== pausedAt) return yield* planOnly(context, reconcile);
  const connection = withoutOldDrift(context, written.stated);
  const result = yield* reconcileStated({ ...context, connection }, reconcile);
  const isCorrected = context.connection.policies.drift === 'correct' && written.stated !== undefined;
  return isCorrected ? withOldDriftWaiting(result) : result;
}

/**
 * Reconciles an identity. What the IdP has stated in a pause is compared with the traveler until an attempt has reached a state, also after
 * the end of the pause.
 */
export function* reconcileStated(
  context: ReconcileContext,
  reconcile: (context: ReconcileContext) => Program<ReconcileResult>,
): Program<ReconcileResult> {
  const { origin, progress } = context.identity;
  const written = origin.writtenInPause;
  if (!written || progress.comparedInPause === written.count) return yield* reconcile(context);
  const result = yield* reconcile({ ...context, doubts: statedFields(context, written.stated) });
  if (result.end.kind !== 'state') return result;
  return { ...result, draft: withProgress(result.draft, { comparedInPause: written.count }) };
}

/** Lets the drift that is not corrected during the pause wait for its end, as a planned call that an admin sees. */
function withOldDriftWaiting(result: ReconcileResult): ReconcileResult {
  const { draft, end } = result;
  const fields = draft.findings.filter(({ code }) => code === 'drift').map(({ field }) => field);
  if (fields.length === 0 || end.kind !== 'state' || end.state !== 'synced') return result;
  const { archived } = draft.applied;
  const access = archived?.sent === true ? 'end' : 'reactivate';
  const call = fields.includes('archived') ? access : 'change';
  return { draft: withFinding(draft, findings.paused(call, fields)), end: { kind: 'paused' } };
}

/**
 * While the IdP has stated only a part of the user, the other values may be older than those of the traveler, and are not corrected.
 */
function withoutOldDrift(
  { connection }: ReconcileContext,
  stated: ScimResource | undefined,
): ConnectionSettings {
  if (stated === undefined) return connection;
  return { ...connection, policies: { ...connection.policies, drift: 'report' } };
}

/** Returns a function that is true for the fields which the IdP has stated. `stated` is undefined if it has stated the whole user. */
function statedFields(
  { rulesSnapshot, translation }: ReconcileContext,
  stated: ScimResource | undefined,
): (key: FieldKey) => boolean {
  if (stated === undefined) return () => true;
  const { fields } = translateNewUser(rulesSnapshot, stated).translation;
  const { fields: unstated } = translateNewUser(rulesSnapshot, {}).translation;
  return (key) => {
    // A user without `active` is active, too.
    if (key === 'archived') return 'active' in stated;
    const [field, wanted] = [fields[key], translation.fields[key]];
    if (field?.kind !== 'value' || isDeepStrictEqual(field, unstated[key])) return false;
    return wanted?.kind === 'value' && isDeepStrictEqual(field.value, wanted.value);
  };
}

/** A call that a paused connection does not send, and the fields that it would change. */
interface CallPaused {
  call: PlannedCall;
  fields: FieldKey[];
}

/** Reconciles up to the first call with an effect. The identity then stays as it is stored, with a finding about that call. */
function* planOnly(
  context: ReconcileContext,
  reconcile: (context: ReconcileContext) => Program<ReconcileResult>,
): Program<ReconcileResult> {
  const { identity, translation } = context;
  const program = reconcile(context);
  let step = program.next();
  while (!step.done) {
    const paused = pausedCall(identity, step.value);
    if (paused) {
      const { waitingFor, hold } = identity;
      // A value that was not applied before the pause is still a finding, and people without an effective departure still an alarm.
      const draft = withUnconfirmedFindings({ ...newDraft(identity, translation), waitingFor, hold });
      return {
        draft: withFinding(draft, findings.paused(paused.call, paused.fields)),
        end: { kind: 'paused' },
      };
    }
    // A departure that is not sent does not count in the safety valve.
    step = program.next(step.value.kind === 'admitDeparture' ? true : yield step.value);
  }
  return step.value;
}

/** Some calls follow from an announced one, or undo it, and are not announced themselves. */
function pausedCall(identity: Identity, effect: Effect): CallPaused | undefined {
  switch (effect.kind) {
    case 'announce':
      return announcedCall(identity, effect.values[0]);
    case 'createTraveler':
      return { call: 'create', fields: [] };
    case 'patchTraveler':
      return { call: 'change', fields: [] };
    case 'removeTraveler':
      return { call: 'end', fields: [] };
    default:
      return undefined;
  }
}

function announcedCall({ deletedAt }: Identity, announcement: Announcement): CallPaused {
  const announced = announcement.progress?.announced ?? {};
  const fields = Object.keys(announced);
  if ('creating' in announcement) return { call: 'create', fields };
  if ('travelId' in announcement && fields.length === 0) return { call: 'change', fields };
  const { archived } = announced;
  if (archived?.value === true || (deletedAt !== undefined && fields.length === 0))
    return { call: 'end', fields };
  return { call: archived?.value === false ? 'reactivate' : 'change', fields };
}

/** A write, and the part of the user that it states; undefined if it states the whole user. */
interface StatingWrite {
  identity: Identity;
  changes: IdentityChange[];
  stated?: ScimResource | undefined;
}

/** Returns a write of an IdP with the note that it was made during the pause, and what of the user the IdP has stated since then. */
export function withPauseNoted<Write extends StatingWrite>(
  write: Write,
  pausedAt: number | undefined,
): Write {
  if (pausedAt === undefined) return write;
  const { origin } = write.identity;
  const before = origin.writtenInPause;
  const earlier = before?.pausedAt === pausedAt ? before : undefined;
  const isWhole = write.stated === undefined || (earlier !== undefined && earlier.stated === undefined);
  const stated = isWhole ? {} : { stated: { ...earlier?.stated, ...write.stated } };
  const writtenInPause = { pausedAt, count: (before?.count ?? 0) + 1, ...stated };
  return withOrigin(write, { ...origin, writtenInPause });
}

/** Returns what a PATCH states: its effect on a user of whom only the userName is known. */
export function statedPart(
  { userName }: ScimResource,
  change: (current: ScimResource) => ScimResource,
): ScimResource {
  const known = userName === undefined ? {} : { userName };
  try {
    const { userName: after, ...stated } = change(known);
    return after === userName ? stated : { ...stated, ...(after === undefined ? {} : { userName: after }) };
  } catch {
    // The PATCH needs a value that it does not state.
    return {};
  }
}
