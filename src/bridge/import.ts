import type { Bases } from './basis.ts';
import type { Connection } from './connection.ts';
import { doubt, keepTravelers, type Look, type Notebook } from './notice.ts';
import type { Agenda, TravelFailure } from './ports.ts';

const PAGE = 100;

/** What an import came to. */
export interface Imported {
  /** Travelers read. */
  read: number;
  /** Whether the whole collection was seen at rest, so that who is missing is known to be gone. */
  complete: boolean;
}

/** Reads all travelers, so that IdPs find the people who were there before, and drift is seen. */
export interface Importer {
  run(
    connection: Connection,
    onPage?: (read: number, total: number) => void,
  ): Promise<Imported | TravelFailure>;
}

interface Shop extends Notebook {
  agenda: Notebook['agenda'] & Pick<Agenda, 'touchOpen'>;
  bases: Bases;
}

/** Pages through the travel users; safe to run beside everything else, any number of times. */
export function importer(shop: Shop): Importer {
  return {
    run: async (connection, onPage) => {
      const basis = await shop.bases.current(connection);
      if ('kind' in basis) return basis;
      const since = shop.surroundings.now();
      const walked = await walk(shop, { connection, basis, since }, onPage);
      if ('kind' in walked) return walked;
      if (walked.complete) await doubt(shop, connection, await shop.imports.sweep(connection.id, since));
      await shop.agenda.touchOpen(connection.id, shop.surroundings.now());
      shop.wake();
      return walked;
    },
  };
}

async function walk(
  shop: Shop,
  run: Look,
  onPage: ((read: number, total: number) => void) | undefined,
): Promise<Imported | TravelFailure> {
  const seen = new Set<string>();
  const totals = new Set<number>();
  for (let offset = 0; ; offset += PAGE) {
    const answer = await run.connection.travel.page(offset, PAGE);
    if (answer.kind !== 'ok') return answer;
    const { users, total } = answer.value;
    totals.add(total);
    for (const { id } of users) seen.add(id);
    await keepTravelers(shop, run, users);
    onPage?.(seen.size, total);
    if (users.length < PAGE || offset + PAGE >= total) break;
  }
  return { read: seen.size, complete: totals.size === 1 && totals.has(seen.size) };
}
