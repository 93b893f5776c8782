import { readPath } from '../../src/replay/matchers.ts';
import type { RunningService } from '../fixtures/service.ts';

/** A client of the travel API with the rights of an admin. */
export interface TravelService {
  /** Returns the resource at a path; undefined if there is none. */
  get(path: string): Promise<unknown>;
  /** Creates a resource and returns its id. */
  make(path: string, data: object): Promise<string>;
}

/** Creates a client for a running service, with the API key of the first admin. */
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
