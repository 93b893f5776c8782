import type { TravelUser } from '../../src/translator/travel-user.ts';

/** The travel API as an admin with a key uses it. */
export interface TravelAdmin {
  /** Makes one thing and answers its id. */
  make(path: string, data: object): Promise<string>;
  /** Everybody, the admin included. */
  travelers(): Promise<TravelUser[]>;
}

const PAGE = 100;

/** The admin of the travel service at `url`. */
export function travelAdmin(url: string, key: string): TravelAdmin {
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/api${path}`, { ...init, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  return {
    make: async (path, data) =>
      (await call(path, { method: 'POST', body: JSON.stringify({ data }) })).data.id,
    travelers: async () => {
      const all: TravelUser[] = [];
      for (let total = 1; all.length < total; ) {
        const { data, meta } = await call(`/users?limit=${PAGE}&offset=${all.length}`);
        all.push(...data);
        total = data.length === 0 ? all.length : meta.total;
      }
      return all;
    },
  };
}
