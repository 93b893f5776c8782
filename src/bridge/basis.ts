import { createHash } from 'node:crypto';
import { compileRules, type Rules } from '../translator/rules.ts';
import type { Lookups } from '../translator/snapshot.ts';
import type { Connection } from './connection.ts';
import type { TravelFailure } from './ports.ts';

/** What every translation of a connection rests on at one moment. */
export interface Basis {
  rules: Rules;
  lookups: Lookups;
  /** Changes when the rules or anything in the lookups does: what was refused or not found is then worth another try. */
  version: string;
}

/** The bases of the connections. */
export interface Bases {
  /** As read not long ago; a failure only when the travel API was never readable. */
  current(connection: Connection): Promise<Basis | TravelFailure>;
  /** Read anew, because something was not found in the present one. */
  refreshed(connection: Connection): Promise<Basis | TravelFailure>;
  /** What is known without asking anybody, down to the mapping file alone. */
  known(connection: Connection): Basis;
}

const nothing: Lookups = {
  customFields: [],
  costCenters: [],
  billingProfiles: [],
  travelPolicies: [],
  scimUserMappings: [],
};

/** Compiles the rules once for each state of the lookups. */
export function bases(): Bases {
  const last = new Map<string, Basis>();
  const compiled = (connection: Connection, lookups: Lookups): Basis => {
    const known = last.get(connection.id);
    if (known?.lookups === lookups) return known;
    const basis = basisOf(connection, lookups);
    last.set(connection.id, basis);
    return basis;
  };
  return {
    current: async (connection) => {
      const answer = await connection.lookups.current();
      return answer.kind === 'ok' ? compiled(connection, answer.value) : answer;
    },
    refreshed: async (connection) => {
      const answer = await connection.lookups.refresh();
      return answer.kind === 'ok' ? compiled(connection, answer.value) : answer;
    },
    known: (connection) => last.get(connection.id) ?? basisOf(connection, nothing),
  };
}

/** What translations of a connection with this mapping rest on while the travel API says this. */
export function basisOf(connection: Pick<Connection, 'mapping'>, lookups: Lookups): Basis {
  const rules = compileRules(connection.mapping, lookups.scimUserMappings);
  const digest = createHash('sha256').update(JSON.stringify(lookups)).digest('hex').slice(0, 16);
  return { rules, lookups, version: `${rules.version}.${digest}` };
}
