import { expectedBody, type ScimObject } from './expectations.ts';
import type { Pseudonymize } from './pseudonyms.ts';
import { createdId, isExactRequest, type ParsedExchange } from './recorded-resources.ts';
import {
  bodyOfSetUp,
  type NeededResource,
  neededResources,
  type SessionKnowledge,
} from './recorded-set-up.ts';
import type { ScenarioDefinition } from './scenario.ts';
import { type ReplaceText, replaceInBody, replaceInTarget } from './scim-texts.ts';

type StepDefinition = ScenarioDefinition['steps'][number];

/** The context of a session within its recording. The conversion adds the exchanges of the session to `known`. */
export interface SessionContext extends SessionKnowledge {
  pseudonymize: Pseudonymize;
  /** The identity provider, for the name of the scenario. */
  idp: string;
}

/** The names of the variables, and the replacement of texts by them and by invented ones. */
interface StepContext {
  /** Names by the ids of the recorded service. */
  variables: Map<string, string>;
  values: PassingValues;
  replace: ReplaceText;
}

/** Converts the exchanges of one session to a scenario. */
export function recordSession(session: ParsedExchange[], context: SessionContext): ScenarioDefinition {
  const { known, pseudonymize, idp } = context;
  const needed = neededResources(session, context);
  const variables = nameVariables(session, needed);
  for (const exchange of session) known.learn(exchange);
  const values = findPassingValues(session);
  const replace: ReplaceText = (text, kind) => {
    const variable = variables.get(text) ?? values.cursors.get(text);
    return variable === undefined ? pseudonymize(text, kind) : `{{${variable}}}`;
  };
  const steps = { variables, values, replace };
  const start = new Date(session[0]?.recorded.at ?? 0).toISOString().slice(0, 16);
  return {
    name: `${idp}-${start.replace('T', '-').replace(':', '')}`,
    idp,
    source: 'jetbridge record',
    evidence: 'recorded',
    notes: `Requests from ${start.replace('T', ' ')} UTC on. All personal data is invented.`,
    tags: ['recorded'],
    steps: [
      ...setUpSteps(needed, steps),
      ...session.map((exchange, index) => toStep(exchange, index, steps)),
      ...cleanUpSteps(session, needed, steps),
    ],
  };
}

/** Names the variables of resources in the order of their appearance: `user1`, `user2`, `group1`. */
function nameVariables(session: ParsedExchange[], needed: Map<string, NeededResource>): Map<string, string> {
  const variables = new Map<string, string>();
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

/** Values that the service gives out and takes back: ETags and cursors, which differ each time. */
interface PassingValues {
  /** Variables of an If-Match or If-None-Match by the index of the exchange. */
  versions: Map<number, string>;
  /** Variables by the cursor. */
  cursors: Map<string, string>;
  /** The variables that each exchange captures from its response, by the index of the exchange: paths by names. */
  captures: Map<number, Record<string, string>>;
}

function findPassingValues(session: ParsedExchange[]): PassingValues {
  const values: PassingValues = { versions: new Map(), cursors: new Map(), captures: new Map() };
  const capture = (index: number, name: string, path: string) =>
    values.captures.set(index, { ...values.captures.get(index), [name]: path });
  for (const [index, exchange] of session.entries()) {
    const { requestHeaders: headers, path } = exchange.recorded;
    const version = headers['if-match'] ?? headers['if-none-match'];
    const isVersion = ({ response }: ParsedExchange) =>
      response?.id === exchange.id && versionOf(response) === version;
    const source = version === undefined ? -1 : session.slice(0, index).findLastIndex(isVersion);
    if (source >= 0) {
      values.versions.set(index, `version${index + 1}`);
      capture(source, `version${index + 1}`, 'meta.version');
    }
    const cursor = new URL(path, 'http://scim.example').searchParams.get('cursor');
    for (const name of ['nextCursor', 'previousCursor']) {
      const page = session.slice(0, index).findLastIndex(({ response }) => response?.[name] === cursor);
      if (!cursor || page < 0 || values.cursors.has(cursor)) continue;
      values.cursors.set(cursor, `cursor${index + 1}`);
      capture(page, `cursor${index + 1}`, name);
    }
  }
  return values;
}

function versionOf(resource: ScimObject | undefined): unknown {
  return Object(resource?.meta).version;
}

function setUpSteps(
  needed: Map<string, NeededResource>,
  { variables, replace }: StepContext,
): StepDefinition[] {
  const there = new Set<string>();
  return [...needed].map(([id, resource], index) => {
    const isThere = (target: string) => there.has(target);
    const isLater = (target: string) => variables.has(target) && !there.has(target);
    const body = replaceInBody(bodyOfSetUp(resource, { number: index + 1, isThere, isLater }), replace);
    there.add(id);
    return {
      request: { method: 'POST', path: `/${resource.type}`, headers: headersFor({}), body },
      expect: { status: [201] },
      capture: { [variables.get(id) ?? '']: 'id' },
      note: 'set-up: existed before the recording',
    };
  });
}

function cleanUpSteps(
  session: ParsedExchange[],
  needed: Map<string, NeededResource>,
  { variables }: StepContext,
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

function toStep(exchange: ParsedExchange, index: number, context: StepContext): StepDefinition {
  const { recorded, request, response } = exchange;
  const { variables, values, replace } = context;
  const id = createdId(exchange);
  const variable = id === undefined ? undefined : variables.get(id);
  const variableOf = (text: unknown) => {
    const name = text === id ? undefined : variables.get(String(text));
    return name === undefined ? undefined : `{{${name}}}`;
  };
  const body =
    response &&
    expectedBody(recorded.status, response, {
      variableOf,
      replace: (value, attribute) => Object(replaceInBody({ [attribute]: value }, replace))[attribute],
      request,
      isExact: isExactRequest(exchange),
    });
  const mediaType = recorded.responseHeaders['content-type']?.split(';')[0];
  const capture = { ...(variable === undefined ? {} : { [variable]: 'id' }), ...values.captures.get(index) };
  return {
    request: {
      method: recorded.method,
      path: replaceInTarget(recorded.path, replace),
      headers: requestHeaders(exchange, values.versions.get(index)),
      ...requestBody(exchange, replace),
    },
    expect: {
      status: [recorded.status],
      ...(response && mediaType !== undefined ? { headers: { 'Content-Type': mediaType } } : {}),
      ...(body ? { bodyMatches: body } : {}),
    },
    ...(Object.keys(capture).length > 0 ? { capture } : {}),
  };
}

function requestBody(
  { recorded, request }: ParsedExchange,
  replace: ReplaceText,
): Pick<StepDefinition['request'], 'body' | 'rawBody'> {
  if (request) return { body: replaceInBody(request, replace) };
  // A body that is no JSON stays none when its words are replaced.
  return recorded.requestBody ? { rawBody: replace(recorded.requestBody, 'text') } : {};
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
