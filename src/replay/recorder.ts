import { anonymize } from './anonymize.ts';
import type { RecordedExchange } from './exchanges.ts';
import { knownResources, type ParsedExchange, parseExchange } from './recorded-resources.ts';
import { recordSession } from './recorded-session.ts';
import type { ScenarioDefinition } from './scenario.ts';

/** Options for the conversion of exchanges to scenarios. */
export interface RecorderOptions {
  /** Values that are not personal although the IdP chooses them, e.g. the roles of travelers. */
  vocabulary?: readonly string[];
  /** A scenario ends before a pause of this length, in milliseconds. */
  pauseMs?: number;
  /** The most exchanges of one scenario. */
  maximum?: number;
}

/** The scenarios of a recording, and what they lack. */
export interface Recording {
  scenarios: ScenarioDefinition[];
  /** The exchanges that cannot be played again, with the reason. */
  leftOut: { at: number; method: string; status: number; reason: string }[];
}

const PAUSE_MS = 5 * 60_000;
const MAXIMUM = 100;

/** The same recording gives the same files. */
const SEED = 36;

/**
 * Converts recorded exchanges to scenarios that pass on an empty service. Everything personal is replaced by invented values of the same
 * form, the same ones in all scenarios. A scenario has the exchanges between two pauses, at most `maximum` of them; people and groups that it
 * needs and does not create are created by steps before them, and everything is deleted after them.
 */
export async function recordScenarios(
  exchanges: RecordedExchange[],
  options: RecorderOptions = {},
): Promise<Recording> {
  // The package is large, and only a recording needs it.
  const { base, en, Faker } = await import('@faker-js/faker');
  const faker = new Faker({ locale: [en, base], seed: SEED });
  const inOrder = exchanges.toSorted((one, other) => one.at - other.at);
  const parsed = anonymize(inOrder, { faker, vocabulary: options.vocabulary ?? [] }).map(parseExchange);
  const all = knownResources();
  for (const exchange of parsed) all.learn(exchange);
  const playable = parsed.filter((exchange) => reasonToLeaveOut(exchange) === undefined);
  const known = knownResources();
  const idp = idpOf(playable);
  const names = new Set<string>();
  const scenarios = divide(playable, options).map((session) => {
    const scenario = recordSession(session, { all, known, idp });
    return { ...scenario, name: uniqueName(scenario.name, names) };
  });
  const leftOut = parsed.flatMap((exchange) => {
    const { at, method, status } = exchange.recorded;
    const reason = reasonToLeaveOut(exchange);
    return reason === undefined ? [] : [{ at, method, status, reason }];
  });
  return { scenarios, leftOut };
}

function reasonToLeaveOut({ recorded, isWrite, isSuccess }: ParsedExchange): string | undefined {
  const { status, method, requestBody } = recorded;
  if (status === 429 || (status >= 500 && status !== 501))
    return 'the service was overloaded or out of order';
  const lacksBody = isWrite && method !== 'DELETE' && requestBody === undefined;
  return lacksBody && isSuccess ? 'the log has no body of the request' : undefined;
}

function divide(exchanges: ParsedExchange[], options: RecorderOptions): ParsedExchange[][] {
  const { pauseMs = PAUSE_MS, maximum = MAXIMUM } = options;
  const sessions: ParsedExchange[][] = [];
  for (const exchange of exchanges) {
    const session = sessions.at(-1);
    const last = session?.at(-1);
    const isNew =
      !session || !last || session.length >= maximum || exchange.recorded.at - last.recorded.at >= pauseMs;
    if (isNew) sessions.push([exchange]);
    else session.push(exchange);
  }
  return sessions;
}

function uniqueName(name: string, names: Set<string>): string {
  let unique = name;
  for (let number = 2; names.has(unique); number += 1) unique = `${name}-${number}`;
  names.add(unique);
  return unique;
}

/** Entra ID sends no name of its own, but spells operations with capitals in its older dialect. */
function idpOf(exchanges: ParsedExchange[]): string {
  const agents = exchanges.map(({ recorded }) => recorded.requestHeaders['user-agent'] ?? '').join(' ');
  const named = /okta|onelogin|jumpcloud|keycloak|authentik|rippling/i.exec(agents)?.[0];
  if (named !== undefined) return named.toLowerCase();
  const isEntra = /entra|azure|microsoft/i.test(agents) || exchanges.some(hasCapitalOperations);
  return isEntra ? 'entra' : 'scim';
}

function hasCapitalOperations({ recorded }: ParsedExchange): boolean {
  return /"op"\s*:\s*"(Add|Replace|Remove)"/.test(recorded.requestBody ?? '');
}
