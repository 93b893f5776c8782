import type { Identity } from '../../../src/provisioning/identity.ts';
import { urns } from '../../../src/schema/resource.ts';
import type { TravelUser } from '../../../src/translator/traveler.ts';
import type { ProvisioningFixture } from '../../fixtures/provisioning.ts';
import type { UserIds } from './actions.ts';

/** All identities and all travelers except the one of the credential. */
interface FinalState {
  identities: Identity[];
  travelers: TravelUser[];
}

/** Returns every invariant of the bridge that is violated when no work is left, in words. */
export async function findViolations(fixture: ProvisioningFixture, { all }: UserIds): Promise<string[]> {
  const identities = await Promise.all(all.map((id) => fixture.identity(id)));
  const travelers = [...fixture.travel.travelers.values()].slice(1);
  const state = { identities, travelers };
  return [
    ...linkViolations(state),
    ...identities.flatMap((identity) =>
      (identity.deletedAt === undefined
        ? userViolations(identity, state)
        : tombstoneViolations(identity, state)
      ).map((violation) => `${identity.id} (${String(identity.desired.userName)}): ${violation}`),
    ),
    ...cycleViolations(travelers),
  ];
}

/** Each traveler has exactly one link. A second traveler of the same person would have none. */
function linkViolations({ identities, travelers }: FinalState): string[] {
  return travelers.flatMap(({ id, email }) => {
    const links = identities.filter(({ travelId }) => travelId === id).length;
    return links === 1 ? [] : [`traveler ${id} (${email}) has ${links} links`];
  });
}

function tombstoneViolations({ state, travelId }: Identity, { travelers }: FinalState): string[] {
  const traveler = travelers.find(({ id }) => id === travelId);
  const violations = state === 'synced' ? [] : [`is deleted and ${state}`];
  return traveler && !traveler.archived
    ? [...violations, 'is deleted and has an active traveler']
    : violations;
}

function userViolations(identity: Identity, final: FinalState): string[] {
  const { state, travelId, desired, findings } = identity;
  const traveler = final.travelers.find(({ id }) => id === travelId);
  const codes = findings.map(({ code }) => code);
  const drifted = findings.filter(({ code }) => code === 'drift').map(({ field }) => field);
  if (drifted.length > 0) return [`reports drift of ${drifted}, though no value was changed by hand`];
  if (!traveler) {
    if (travelId !== undefined) return [`is linked to ${travelId}, which does not exist`];
    if (state === 'synced' && desired.active === false) return [];
    return state === 'pending' && codes.some(isAddressCode)
      ? addressViolations(identity, final)
      : [`has no traveler and is ${state}, ${codes}`];
  }
  return [
    ...(state === 'synced' ? [] : [`is ${state}`]),
    ...(traveler.archived === !desired.active ? [] : ['is archived and active, or neither']),
    ...languageViolations(identity, traveler),
    ...(wantedEmail(identity) === traveler.email ? [] : addressViolations(identity, final)),
    ...managerViolations(identity, traveler, final),
  ];
}

function languageViolations({ desired }: Identity, { lang }: TravelUser): string[] {
  const wanted = desired.preferredLanguage ?? '';
  return (lang ?? '') === wanted ? [] : [`has the language ${lang}`];
}

/**
 * An email that differs from the wanted one needs a finding, and the finding must be true: another traveler has the wanted
 * address and does not in turn wait for the address of this one.
 */
function addressViolations(identity: Identity, { identities, travelers }: FinalState): string[] {
  const wanted = wantedEmail(identity);
  if (hasGivenEmailUp(identity)) return [];
  if (!identity.findings.some(({ code }) => isAddressCode(code)))
    return [`does not have ${wanted}, and has no finding`];
  const holder = travelers.find(({ email }) => email === wanted);
  if (!holder) return [`waits for ${wanted}, which is free`];
  if (holder.id === identity.travelId) return [`waits for ${wanted}, which it has`];
  const holderIdentity = identities.find(({ travelId }) => travelId === holder.id);
  const ownTraveler = travelers.find(({ id }) => id === identity.travelId);
  const isSwap = ownTraveler && holderIdentity && holderIdentity.waitingFor === ownTraveler.email;
  return isSwap ? [`waits for ${wanted} in a cycle`] : [];
}

/** True for an inactive user whose address another person needed: the finding says so. */
function hasGivenEmailUp({ origin, desired, findings }: Identity): boolean {
  const isTold = findings.some(({ code }) => code === 'otherPerson' || code === 'personUnclear');
  return desired.active === false && origin.givesEmailUp === true && isTold;
}

/** True for findings that name the holder of the wanted address: another traveler, or that of a person who left. */
function isAddressCode(code: string): boolean {
  return code === 'emailTaken' || code === 'emailHeldByLeaver';
}

function wantedEmail({ desired: { emails } }: Identity): string {
  const [first] = Array.isArray(emails) ? emails : [];
  return typeof first === 'object' && first && !Array.isArray(first) ? String(first.value) : '';
}

function managerViolations(identity: Identity, traveler: TravelUser, { identities }: FinalState): string[] {
  const extension = identity.desired[urns.enterprise];
  const manager =
    typeof extension === 'object' && extension && 'manager' in extension ? extension.manager : null;
  const managerId = typeof manager === 'object' && manager && 'value' in manager ? manager.value : '';
  const target = identities.find(({ id, deletedAt }) => id === managerId && deletedAt === undefined);
  const codes = identity.findings.map(({ code }) => code);
  const isLeftOut = codes.includes('managerCircle') || codes.includes('managerSelf');
  const expected = isLeftOut ? undefined : target?.travelId;
  return traveler.managerId === expected ? [] : [`has the manager ${traveler.managerId}, not ${expected}`];
}

function cycleViolations(travelers: TravelUser[]): string[] {
  return travelers.flatMap(({ id }) => {
    const visited = new Set<string>();
    let next: string | undefined = id;
    while (next !== undefined && !visited.has(next)) {
      visited.add(next);
      const current: string = next;
      next = travelers.find((traveler) => traveler.id === current)?.managerId;
    }
    return next === id ? [`${id} is in a cycle of managers`] : [];
  });
}
