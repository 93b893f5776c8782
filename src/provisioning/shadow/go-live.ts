import type { Identity } from '../../model/identity.ts';
import type { LiveResult, Shadow } from '../../store/connection-modes.ts';
import type { PlannedCreate } from '../../store/identities/shadow-plans.ts';
import type { ProvisioningStore } from '../../store/provisioning-store.ts';
import {
  areSamePlans,
  planOf,
  planPages,
  type ShadowPerson,
  shadowSummary,
  timeOfDigest,
  toShadowPerson,
} from './report.ts';

type GoLiveStore = Pick<ProvisioningStore, 'shadowPlans' | 'modes'>;

/** The plan that an admin approves. */
export interface GoLiveRequest {
  connection: string;
  /** The digest of the report that the admin has seen. */
  digest: string;
  /** The number of changed plans that the admin has been shown since; they are not approved, and the connection goes live nevertheless. */
  acceptedChanges?: number | undefined;
  /** The name of the admin. */
  by: string | undefined;
  /** As `Runtime.now`. */
  now: number;
}

/**
 * `live`: the connection is live, and what the safety valve would have held is approved as planned.
 * `changed`: nothing is done, because plans have changed since the report. `planning`: nothing is done, because so many people are not
 * planned yet under the rules in force. `notInShadow`: it is in another mode. `outdated`: the digest is of an earlier time in shadow mode,
 * or none.
 */
export type GoLiveResult =
  | { outcome: 'live'; approved: number; changed: number }
  | Exclude<LiveResult, { outcome: 'live' }>
  | { outcome: 'changed'; changed: number; examples: ShadowPerson[] }
  | { outcome: 'outdated' };

/** Says why a connection does not go live yet. */
export function planningText(left: number): string {
  const people = left === 1 ? '1 person is' : `${left} people are`;
  return `${people} not planned yet under the rules in force. Nothing was done; look again in a minute.`;
}

const EXAMPLES = 20;
/** An attempt takes the time of its plan a moment before it is stored. */
const STORING_MS = 5_000;

/** Ends shadow mode with the plan of a report. People whose plan has changed since are treated as in any live connection. */
export async function goLive(store: GoLiveStore, request: GoLiveRequest): Promise<GoLiveResult> {
  const { connection, digest, acceptedChanges = 0, by, now } = request;
  const shadow = await store.modes.readShadow(connection);
  if (!shadow) return { outcome: 'notInShadow' };
  const shownAt = timeOfDigest(digest);
  if (shownAt === undefined || shownAt < shadow.since) return { outcome: 'outdated' };
  const review = await reviewPlans(store, shadow, { digest, shownAt });
  const { changed, examples, stale } = review;
  if (stale > 0) return { outcome: 'planning', left: stale };
  if (!review.isSame && (changed > acceptedChanges || request.acceptedChanges === undefined))
    return { outcome: 'changed', changed, examples };
  const result = await store.modes.goLive(connection, {
    ...shadow,
    approvals: [{ cause: 'safetyValve', people: review.departures, now, by }],
    creates: review.creates,
    now,
  });
  return result.outcome === 'live' ? { ...result, changed: review.isSame ? 0 : changed } : result;
}

/** True for a person whom no attempt has planned yet. */
function isUnplanned({ claimed, state }: Identity): boolean {
  return claimed && state === 'dirty';
}

interface Review {
  /** True if everybody's plan is as in the report. */
  isSame: boolean;
  changed: number;
  examples: ShadowPerson[];
  /** The number of people who are not planned yet under the rules in force. */
  stale: number;
  /** The people whose plan is as in the report, and who leave. */
  departures: { id: string; version: number }[];
  creates: PlannedCreate[];
}

async function reviewPlans(
  { shadowPlans }: Pick<GoLiveStore, 'shadowPlans'>,
  shadow: Shadow,
  { digest, shownAt }: { digest: string; shownAt: number },
): Promise<Review> {
  const summary = shadowSummary(shownAt);
  const recent: Identity[] = [];
  const creates: PlannedCreate[] = [];
  const leaving: { person: Review['departures'][number]; at: number }[] = [];
  let [changed, stale] = [0, 0];
  for await (const people of planPages(shadowPlans.findPage, shadow.connection))
    for (const identity of people) {
      summary.add(toShadowPerson(identity, shadow));
      const plan = planOf(identity, shadow);
      const { id, version } = identity;
      if (identity.claimed && identity.rulesGeneration < shadow.generation) stale += 1;
      if (plan?.email !== undefined) creates.push({ id, version, email: plan.email });
      if (plan?.call === 'end') leaving.push({ person: { id, version }, at: plan.at });
      const isNew = plan ? plan.at > shownAt - STORING_MS : isUnplanned(identity);
      if (!isNew) continue;
      changed += 1;
      if (recent.length < EXAMPLES) recent.push(identity);
    }
  const isSame = areSamePlans(summary.end().digest, digest);
  const unchanged = leaving.filter(({ at }) => isSame || at <= shownAt - STORING_MS);
  return {
    ...{ isSame, changed, stale, examples: recent.map((identity) => toShadowPerson(identity, shadow)) },
    departures: unchanged.map(({ person }) => person),
    creates,
  };
}
