import { isObject, type Json, type JsonObject } from '../json.ts';

/** An operation of the contract, as the page reads it. */
export interface ReadOperation {
  path: string;
  method: string;
  id: string;
  summary: string;
  description: string | undefined;
  tag: string;
  parameters: JsonObject[];
  /** An example of the body that is sent. */
  request: Json | undefined;
  answers: { status: string; description: string; example: Json | undefined }[];
}

/** Every operation of an OpenAPI document, in its order. */
export function operationsIn(document: JsonObject): ReadOperation[] {
  return membersOf(document['paths']).flatMap(([path, methods]) =>
    membersOf(methods).map(([method, operation]) => readOperation(document, { path, method, operation })),
  );
}

/** The part of a document that a reference points at; anything else is answered as it is. */
export function resolved(document: JsonObject, part: Json | undefined): JsonObject {
  const reference = isObject(part) ? part['$ref'] : undefined;
  if (typeof reference !== 'string') return objectIn(part);
  const words = reference.slice('#/'.length).split('/');
  return objectIn(words.reduce<Json | undefined>((value, word) => objectIn(value)[word], document));
}

/** The members of an object; none of anything else. */
export function membersOf(value: Json | undefined): [string, Json][] {
  return Object.entries(objectIn(value));
}

/** The object, or an empty one in place of anything else. */
export function objectIn(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The objects of a list. */
export function objectsIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The text, or none in place of anything else. */
export function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function readOperation(
  document: JsonObject,
  { path, method, operation }: { path: string; method: string; operation: Json },
): ReadOperation {
  const { operationId, summary, description, tags, parameters, requestBody, responses } = objectIn(operation);
  return {
    path,
    method: method.toUpperCase(),
    id: textIn(operationId) ?? '',
    summary: textIn(summary) ?? '',
    description: textIn(description),
    tag: Array.isArray(tags) ? String(tags[0]) : '',
    parameters: objectsIn(parameters),
    request: exampleIn(objectIn(requestBody)),
    answers: membersOf(responses).map(([status, response]) => {
      const answer = resolved(document, response);
      return { status, description: textIn(answer['description']) ?? '', example: exampleIn(answer) };
    }),
  };
}

/** The first example of a request body or an answer. */
export function exampleIn({ content }: JsonObject): Json | undefined {
  const { examples } = objectIn(objectIn(content)['application/json']);
  const [first] = membersOf(examples);
  return first && objectIn(first[1])['value'];
}
