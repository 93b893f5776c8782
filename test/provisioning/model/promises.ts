import type { Identity } from '../../../src/provisioning/identity.ts';
import { urns } from '../../../src/schema/resource.ts';
import type { TravelUser } from '../../../src/translator/traveler.ts';
import type { ProvisioningFixture } from '../../fixtures/provisioning.ts';
import type { Cast } from './play.ts';

interface Scene {
  people: Identity[];
  travelers: TravelUser[];
}

/** Every promise of the bridge that a scene at rest breaks, in words. */
export async function faultsOf(fixture: ProvisioningFixture, { all }: Cast): Promise<string[]> {
  const people = await Promise.all(all.map((id) => fixture.identity(id)));
  const travelers = [...fixture.travel.travelers.values()].slice(1);
  const scene = { people, travelers };
  return [
    ...linkFaults(scene),
    ...people.flatMap((person) =>
      (person.deletedAt === undefined ? liveFaults(person, scene) : deadFaults(person, scene)).map(
        (fault) => `${person.id} (${String(person.desired.userName)}): ${fault}`,
      ),
    ),
    ...circleFaults(travelers),
  ];
}

/** Each traveler is somebody's, and nobody's twice: a second one for the same person would be nobody's. */
function linkFaults({ people, travelers }: Scene): string[] {
  return travelers.flatMap(({ id, email }) => {
    const links = people.filter(({ travelId }) => travelId === id).length;
    return links === 1 ? [] : [`traveler ${id} (${email}) has ${links} links`];
  });
}

function deadFaults(person: Identity, { travelers }: Scene): string[] {
  const traveler = travelers.find(({ id }) => id === person.travelId);
  const faults = person.state === 'synced' ? [] : [`is deleted and ${person.state}`];
  return traveler && !traveler.archived ? [...faults, 'is deleted and travels'] : faults;
}

function liveFaults(person: Identity, scene: Scene): string[] {
  const { state, travelId, desired, findings } = person;
  const traveler = scene.travelers.find(({ id }) => id === travelId);
  const codes = findings.map(({ code }) => code);
  const drifted = findings.filter(({ code }) => code === 'drift').map(({ field }) => field);
  if (drifted.length > 0) return [`reports drift of ${drifted}, though nobody touched anything`];
  if (!traveler) {
    if (travelId !== undefined) return [`is linked to ${travelId}, which is not there`];
    if (state === 'synced' && desired.active === false) return [];
    return state === 'pending' && codes.some(isAddressCode)
      ? addressFaults(person, scene)
      : [`has no traveler and is ${state}, ${codes}`];
  }
  return [
    ...(state === 'synced' ? [] : [`is ${state}`]),
    ...(traveler.archived === !desired.active ? [] : ['is archived and active, or neither']),
    ...languageFaults(person, traveler),
    ...(wantedEmail(person) === traveler.email ? [] : addressFaults(person, scene)),
    ...managerFaults(person, traveler, scene),
  ];
}

function languageFaults({ desired }: Identity, { lang }: TravelUser): string[] {
  const wanted = desired.preferredLanguage ?? '';
  return (lang ?? '') === wanted ? [] : [`speaks ${lang}`];
}

/** An address that is not the wanted one has a finding, and that is true: another traveler has the wanted one, and not in a circle. */
function addressFaults(person: Identity, { people, travelers }: Scene): string[] {
  const wanted = wantedEmail(person);
  if (!person.findings.some(({ code }) => isAddressCode(code))) return [`has not ${wanted}, and no finding`];
  const holder = travelers.find(({ email }) => email === wanted);
  if (!holder) return [`waits for ${wanted}, which is free`];
  if (holder.id === person.travelId) return [`waits for ${wanted}, which is its own`];
  const other = people.find(({ travelId }) => travelId === holder.id);
  const own = travelers.find(({ id }) => id === person.travelId);
  const isSwap = own && other && other.waitingFor === own.email;
  return isSwap ? [`waits for ${wanted} in a circle`] : [];
}

/** The findings that say who has the wanted address: another traveler, or that of somebody who left. */
function isAddressCode(code: string): boolean {
  return code === 'emailTaken' || code === 'emailHeldByLeaver';
}

function wantedEmail({ desired: { emails } }: Identity): string {
  const [first] = Array.isArray(emails) ? emails : [];
  return typeof first === 'object' && first && !Array.isArray(first) ? String(first.value) : '';
}

function managerFaults(person: Identity, traveler: TravelUser, { people }: Scene): string[] {
  const extension = person.desired[urns.enterprise];
  const named =
    typeof extension === 'object' && extension && 'manager' in extension ? extension.manager : null;
  const raw = typeof named === 'object' && named && 'value' in named ? named.value : '';
  const boss = people.find(({ id, deletedAt }) => id === raw && deletedAt === undefined);
  const codes = person.findings.map(({ code }) => code);
  const isLeftOut = codes.includes('managerCircle') || codes.includes('managerSelf');
  const expected = isLeftOut ? undefined : boss?.travelId;
  return traveler.managerId === expected ? [] : [`has the manager ${traveler.managerId}, not ${expected}`];
}

function circleFaults(travelers: TravelUser[]): string[] {
  return travelers.flatMap(({ id }) => {
    const seen = new Set<string>();
    let next: string | undefined = id;
    while (next !== undefined && !seen.has(next)) {
      seen.add(next);
      const at: string = next;
      next = travelers.find((one) => one.id === at)?.managerId;
    }
    return next === id ? [`${id} is in a circle of managers`] : [];
  });
}
