import type { Event } from './moves.ts';
import type { History, Played } from './play.ts';
import { plainSetup, type Setup } from './setup.ts';

/** Plays a history. */
export type PlayHistory = (history: History) => Promise<Pick<Played, 'broken' | 'events'>>;

/**
 * Reduces a failing history to the fewest and simplest events, and the plainest setup, with which a promise of the same kind is broken.
 */
export async function shrink(history: History, play: PlayHistory): Promise<History> {
  const { broken, events: last } = await play(history);
  const kind = kindOf(broken);
  const fails = async (one: History) => {
    const result = await play(one);
    return result.broken.length > 0 && kindOf(result.broken) === kind;
  };
  let smallest = { ...history, events: history.events.slice(0, last) };
  if (!(await fails(smallest))) smallest = history;
  smallest = await withoutEvents(await sinceLateRest(smallest, fails), fails);
  for (const simplify of plainerSetups) {
    const candidate = { ...smallest, setup: simplify(smallest.setup) };
    if (await fails(candidate)) smallest = candidate;
  }
  for (let place = 0; place < smallest.events.length; place += 1)
    for (const event of plainerEvents(smallest.events[place])) {
      const events = smallest.events.with(place, event);
      if (await fails({ ...smallest, events })) smallest = { ...smallest, events };
    }
  return withoutEvents(smallest, fails);
}

/** Leaves out everything before the last check after which the history still fails: most failures need only the events since then. */
async function sinceLateRest(history: History, fails: (one: History) => Promise<boolean>): Promise<History> {
  const rests = history.events.flatMap(({ what }, place) => (what.kind === 'rest' ? [place] : []));
  for (const place of rests.toReversed()) {
    const later = { ...history, events: history.events.slice(place + 1) };
    if (later.events.length > 0 && (await fails(later))) return later;
  }
  return history;
}

/** Leaves out every part of the events without which the history still fails: halves first, single events last. */
async function withoutEvents(history: History, fails: (one: History) => Promise<boolean>): Promise<History> {
  let smallest = history;
  for (let size = Math.ceil(history.events.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < smallest.events.length; ) {
      const events = smallest.events.toSpliced(from, size);
      if (await fails({ ...smallest, events })) smallest = { ...smallest, events };
      else from += size;
    }
  }
  return smallest;
}

/** Each makes one part of a setup the usual one. */
const plainerSetups: ((setup: Setup) => Setup)[] = [
  (setup) => ({ ...setup, replicas: 1 }),
  (setup) => ({ ...setup, hasFeed: false }),
  (setup) => ({ ...setup, policies: { ...setup.policies, safetyValve: undefined } }),
  (setup) => ({ ...setup, policies: { ...setup.policies, deprovision: 'archive' } }),
  (setup) => ({ ...setup, policies: { ...setup.policies, drift: 'report' } }),
  (setup) => ({ ...setup, habits: plainSetup.habits }),
];

function plainerEvents(event: Event | undefined): Event[] {
  if (!event) return [];
  const plainer: Event[] = event.pause > 0 ? [{ ...event, pause: 0 }] : [];
  const { what } = event;
  if (what.kind === 'faults') {
    for (const length of [1, 2, 3])
      plainer.push({ ...event, what: { ...what, next: what.next.slice(0, length) } });
    for (const [place] of what.next.entries())
      plainer.push({ ...event, what: { ...what, next: what.next.with(place, 'pass') } });
  }
  if (what.kind === 'update')
    for (const name of Object.keys(what.set)) {
      const { [name as 'title']: _, ...set } = what.set;
      plainer.push({ ...event, what: { ...what, set } });
    }
  return plainer;
}

/** The first broken promise without ids and numbers, which differ from history to history. */
function kindOf([first = '']: string[]): string {
  const [line = ''] = first.split('\n');
  return line.replaceAll(/\([^)]*\)|[0-9a-f]{8}-[0-9a-f-]+|\d+/g, '').slice(0, 60);
}
