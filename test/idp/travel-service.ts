import { readPath } from '../../src/replay/matchers.ts';
import type { RunningService } from '../fixtures/service.ts';

/** The travel service as an admin sees it, over its own API. */
export interface TravelService {
  /** Answers what is at a path, or undefined when nothing is. */
  get(path: string): Promise<unknown>;
  /** Makes one thing and answers its id. */
  make(path: string, data: object): Promise<string>;
}

/** The travel API of a running service, used with the first admin's key. */
export function travelService({ url, travelApiKey }: RunningService): TravelService {
  const headers = { authorization: `Bearer ${travelApiKey}`, 'content-type': 'application/json' };
  return {
    get: async (path) => {
      const response = await fetch(`${url}/api${path}`, { headers });
      if (response.status === 404) return undefined;
      if (!response.ok) throw new Error(`GET ${path}: ${response.status}`);
      return readPath(JSON.parse(await response.text()), 'data');
    },
    make: async (path, data) => {
      const response = await fetch(`${url}/api${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ data }),
      });
      const answer = await response.text();
      if (response.status !== 201) throw new Error(`POST ${path}: ${response.status} ${answer}`);
      return String(readPath(JSON.parse(answer), 'data.id'));
    },
  };
}
