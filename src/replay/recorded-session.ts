import { expectedBody, parseScimObject, type ScimObject } from './expectations.ts';
import { createdId, isExactRequest, type ParsedExchange, replaceIds } from './recorded-resources.ts';
import {
  bodyOfSetUp,
  type NeededResource,
  neededResources,
  type SessionKnowledge,
} from './recorded-set-up.ts';
import type { ScenarioDefinition } from './scenario.ts';

type StepDefinition = ScenarioDefinition['steps'][number];

/** The context of a session within its recording. The conversion adds the exchanges of the session to `known`. */
export interface SessionContext extends SessionKnowledge {
  /** The identity provider, for the name of the scenario. */
  idp: string;
}

/** The names of the variables by the ids of the recorded service. */
type Variables = Map<string, string>;

/** Converts the exchanges of one session to a scenario. */
export function recordSession(session: ParsedExchange[], context: SessionContext): ScenarioDefinition {
  const { known, idp } = context;
  const needed = neededResources(session, context);
  const variables = nameVariables(session, needed);
  for (const exchange of session) known.learn(exchange);
  const values = findPassingValues(session);
  const start = new Date(session[0]?.recorded.at ?? 0).toISOString().slice(0, 16);
  return {
    name: `${idp}-${start.replace('T', '-').replace(':', '')}`,
    idp,
    source: 'jetbridge record',
    evidence: 'recorded',
    notes: `Requests from ${start.replace('T', ' ')} UTC on. All personal data is invented.`,
    tags: ['recorded'],
    steps: [
      ...setUpSteps(needed, variables),
      ...session.map((exchange, index) => toStep(exchange, variables, { ...values[index] })),
      ...cleanUpSteps(session, needed, variables),
    ],
  };
}

/** Names the variables of resources in the order of their appearance: `user1`, `user2`, `group1`. */
function nameVariables(session: ParsedExchange[], needed: Map<string, NeededResource>): Variables {
  const variables: Variables = new Map();
  const counts = { Users: 0, Groups: 0 };
  const add = (id: string, type: keyof typeof counts) => {
    counts[type] += 1;
    variables.set(id, `${type === 'Users' ? 'user' : 'group'}${counts[type]}`);
  };
  for (const [id, { type }] of needed) add(id, type);
  for (const exchange of session) {
    const id = createdId(exchange);
    if (id !== undefined && exchange.endpoint && !variables.has(id)) add(id, exchange.endpoint);
  }
  return variables;
}

/** Values of an exchange that the service gives out and takes back: ETags and cursors, which differ each time. */
interface PassingValues {
  /** The variable of the If-Match or If-None-Match. */
  version?: string;
  /** The variable of the cursor in the query. */
  cursor?: string;
  /** The variables that are captured from the response: paths by names. */
  captures?: Record<string, string>;
}

/** Returns the passing values of each exchange. */
function findPassingValues(session: ParsedExchange[]): PassingValues[] {
  const values: PassingValues[] = session.map(() => ({}));
  const capture = (index: number, name: string, path: string) => {
    values[index] = { ...values[index], captures: { ...values[index]?.captures, [name]: path } };
  };
  for (const [index, exchange] of session.entries()) {
    const earlier = session.slice(0, index);
    const { requestHeaders: headers, path } = exchange.recorded;
    const version = headers['if-match'] ?? headers['if-none-match'];
    const isVersion = ({ response }: ParsedExchange) =>
      response?.id === exchange.id && versionOf(response) === version;
    const source = version === undefined ? -1 : earlier.findLastIndex(isVersion);
    if (source >= 0) {
      values[index] = { ...values[index], version: `version${index + 1}` };
      capture(source, `version${index + 1}`, 'meta.version');
    }
    const cursor = new URL(path, 'http://scim.example').searchParams.get('cursor');
    for (const name of ['nextCursor', 'previousCursor']) {
      const page = earlier.findLastIndex(({ response }) => response?.[name] === cursor);
      if (!cursor || page < 0 || values[index]?.cursor !== undefined) continue;
      values[index] = { ...values[index], cursor: `cursor${index + 1}` };
      capture(page, `cursor${index + 1}`, name);
    }
  }
  return values;
}

function versionOf(resource: ScimObject | undefined): unknown {
  return Object(resource?.meta).version;
}

function setUpSteps(needed: Map<string, NeededResource>, variables: Variables): StepDefinition[] {
  const there = new Set<string>();
  return [...needed].map(([id, resource], index) => {
    const isThere = (target: string) => there.has(target);
    const isLater = (target: string) => variables.has(target) && !there.has(target);
    const body = JSON.stringify(bodyOfSetUp(resource, { number: index + 1, isThere, isLater }));
    there.add(id);
    return {
      request: {
        method: 'POST',
        path: `/${resource.type}`,
        headers: headersFor({}),
        body: JSON.parse(replaceIds(body, (word) => variables.get(word))),
      },
      expect: { status: [201] },
      capture: { [variables.get(id) ?? '']: 'id' },
      note: 'set-up: existed before the recording',
    };
  });
}

function cleanUpSteps(
  session: ParsedExchange[],
  needed: Map<string, NeededResource>,
  variables: Variables,
): StepDefinition[] {
  const live = new Map([...needed].map(([id, { type }]) => [id, type]));
  for (const exchange of session) {
    const id = createdId(exchange);
    if (id !== undefined && exchange.endpoint) live.set(id, exchange.endpoint);
    const { recorded, isSuccess, id: target = '' } = exchange;
    if (recorded.method === 'DELETE' && isSuccess) live.delete(target);
  }
  const groupsFirst = [...live].toSorted(([, one], [, other]) => one.localeCompare(other));
  return groupsFirst.map(([id, type]) => ({
    request: { method: 'DELETE', path: `/${type}/{{${variables.get(id)}}}`, headers: headersFor({}) },
    expect: { status: [204, 404] },
    note: 'clean-up',
  }));
}

function toStep(exchange: ParsedExchange, variables: Variables, values: PassingValues): StepDefinition {
  const { recorded } = exchange;
  // The variable of a resource has no value before the answer to its creation.
  const id = createdId(exchange);
  const replace = (text: string) =>
    replaceIds(text, (word) => (word === id ? undefined : variables.get(word)));
  const requestBody = recorded.requestBody && replace(recorded.requestBody);
  const request = parseScimObject(requestBody);
  const response = parseScimObject(recorded.responseBody && replace(recorded.responseBody));
  const isExact = isExactRequest(exchange);
  const body = response && expectedBody(recorded.status, response, { request, isExact });
  const mediaType = recorded.responseHeaders['content-type']?.split(';')[0];
  const path = replace(recorded.path);
  const variable = id === undefined ? undefined : variables.get(id);
  const capture = { ...(variable === undefined ? {} : { [variable]: 'id' }), ...values.captures };
  return {
    request: {
      method: recorded.method,
      path:
        values.cursor === undefined ? path : path.replace(/([?&]cursor=)[^&]*/i, `$1{{${values.cursor}}}`),
      headers: requestHeaders(exchange, values.version),
      ...(request ? { body: request } : requestBody ? { rawBody: requestBody } : {}),
    },
    expect: {
      status: [recorded.status],
      ...(response && mediaType !== undefined ? { headers: { 'Content-Type': mediaType } } : {}),
      ...(body ? { bodyMatches: body } : {}),
    },
    ...(Object.keys(capture).length > 0 ? { capture } : {}),
  };
}

/** The headers that a scenario keeps, with their usual spelling. */
const keptHeaders: Record<string, string> = {
  'content-type': 'Content-Type',
  accept: 'Accept',
  'accept-charset': 'Accept-Charset',
  'user-agent': 'User-Agent',
};

function requestHeaders({ recorded }: ParsedExchange, version: string | undefined): Record<string, string> {
  const { requestHeaders: headers, status } = recorded;
  const precondition = headers['if-match'] === undefined ? 'If-None-Match' : 'If-Match';
  const value = headers['if-match'] ?? headers['if-none-match'];
  // A version that the recording does not show can only be one that never matches, or is left out.
  const unknown = value === '*' ? '*' : status === 412 ? 'W/"none"' : undefined;
  const sent = version === undefined ? unknown : `{{${version}}}`;
  const kept = Object.entries(keptHeaders).flatMap(([name, spelling]) => {
    const text = headers[name];
    return text === undefined ? [] : [[spelling, text] as const];
  });
  return {
    ...headersFor(status === 401 ? { isRefused: headers.authorization !== undefined } : {}),
    ...Object.fromEntries(kept),
    ...(value !== undefined && sent !== undefined ? { [precondition]: sent } : {}),
  };
}

function headersFor({ isRefused }: { isRefused?: boolean }): Record<string, string> {
  const authorization =
    isRefused === undefined ? 'Bearer {{token}}' : isRefused ? 'Bearer no-token' : undefined;
  return {
    ...(authorization === undefined ? {} : { Authorization: authorization }),
    'Content-Type': 'application/scim+json',
  };
}
