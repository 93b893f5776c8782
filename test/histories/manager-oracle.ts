import type { TravelUser } from '../../src/translator/traveler.ts';
import type { Person } from './idp.ts';
import type { Scene } from './oracle.ts';

/** Managers are as the references say; a link that would close a ring may be left out. */
export function managerFaults(scene: Scene): string[] {
  return [...scene.people.flatMap((person) => referenceFaults(person, scene)), ...ringFaults(scene)];
}

function referenceFaults(person: Person, scene: Scene): string[] {
  const traveler = travelerOf(person, scene);
  if (!person.present || !traveler || scene.ledger.guarded.has(traveler.id)) return [];
  const manager = managerOf(person, scene);
  const has = traveler.managerId;
  const wanted = manager && manager !== person ? scene.links.get(manager.index) : undefined;
  if (has === wanted) return [];
  if (has === undefined && isInRing(person, scene)) return [];
  // Without a traveler of the manager, the one before stays while the reference is the same.
  if (manager && manager !== person && wanted === undefined) return [];
  const raw = person.present.wish.manager ?? 'nobody';
  // An id that a person had before they came back still means their traveler.
  if (!manager && isId.test(raw) && [...scene.links.values()].includes(has ?? '')) return [];
  return [`p${person.index}: has the manager ${has ?? 'nobody'}, not ${wanted ?? 'nobody'} (${raw})`];
}

const isId = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

function managerOf({ present }: Person, { people }: Scene): Person | undefined {
  const raw = present?.wish.manager?.toLowerCase();
  if (!present || raw === undefined) return undefined;
  const inConnection = people.filter((one) => one.present?.connection === present.connection);
  return inConnection.find((one) => one.present?.id === raw || one.present?.wish.userName === raw);
}

function isInRing(person: Person, scene: Scene): boolean {
  const seen = new Set<Person>();
  let next = managerOf(person, scene);
  while (next && next !== person && !seen.has(next)) {
    seen.add(next);
    next = managerOf(next, scene);
  }
  return next === person;
}

function ringFaults({ travelers }: Scene): string[] {
  const managers = new Map(travelers.map(({ id, managerId }) => [id, managerId]));
  return travelers.flatMap(({ id }) => {
    const seen = new Set<string>();
    let next = managers.get(id);
    while (next !== undefined && next !== id && !seen.has(next)) {
      seen.add(next);
      next = managers.get(next);
    }
    return next === id ? [`traveler ${id} is in a ring of managers`] : [];
  });
}

function travelerOf({ index }: Person, { links, travelers }: Scene): TravelUser | undefined {
  return travelers.find(({ id }) => id === links.get(index));
}
