import type { JsonObject } from '../json.ts';
import type { Operation, Resource } from '../resource.ts';
import { type Failure, failureReferences } from './answers.ts';
import { patchExample } from './examples.ts';
import {
  answerOf,
  collectionPath,
  type Described,
  type Documented,
  enveloped,
  head,
  jsonContent,
  parentParameters,
  reference,
  revealingAnswer,
} from './operation.ts';
import { pathParameter } from './parameters.ts';
import { idSchema, shapeNames } from './shapes.ts';
import { capitalized, spoken, withArticle } from './words.ts';

/** How the operations that are not lists are described. */
export const itemOperations = {
  create: (documented) => {
    const { resource } = documented;
    const { type, parent, example } = resource;
    const parameters = parentParameters(documented);
    const failures: Failure[] = [400, 401, ...(parent ? [404 as const] : [])];
    return {
      path: collectionPath(resource),
      method: 'post',
      operation: {
        ...head(resource, `create${capitalized(type)}`, `Create ${withArticle(type)}`),
        ...(parameters.length > 0 ? { parameters } : {}),
        requestBody: requestBody(shapeNames(resource).written, example),
        responses: {
          201: revealingAnswer(documented, 'What was created'),
          ...failureReferences([...failures, ...refusals(resource, 'create'), 413, 415, 422, 500, 503]),
        },
      },
    };
  },
  retrieve: (documented) => item(documented, { method: 'get', verb: 'retrieve', failures: [404] }),
  patch: (documented) =>
    item(documented, {
      method: 'patch',
      verb: 'update',
      says: 'Fields in the body are changed, those that are null are removed, others stay (JSON merge patch, RFC 7396).',
      body: requestBody(shapeNames(documented.resource).patched, patchExample(documented.resource)),
      failures: [404, ...refusals(documented.resource, 'patch'), 413, 415, 422],
    }),
  replace: (documented) =>
    item(documented, {
      method: 'put',
      verb: 'replace',
      says: 'Fields that the body leaves out are removed, but `archived`, which stays.',
      body: requestBody(shapeNames(documented.resource).written, documented.resource.example),
      failures: [404, ...refusals(documented.resource, 'replace'), 413, 415, 422],
    }),
  delete: (documented) =>
    item(documented, {
      method: 'delete',
      verb: 'delete',
      says: 'The answer is the resource as it was.',
      // Who refers to it is known when it is tried.
      failures: [404, 409, ...refusals(documented.resource, 'delete')],
    }),
} satisfies Record<Exclude<Operation, 'list'>, (documented: Documented) => Described>;

interface Item {
  method: Described['method'];
  verb: string;
  says?: string;
  body?: JsonObject;
  failures: Failure[];
}

function item(documented: Documented, { method, verb, says, body, failures }: Item): Described {
  const { resource } = documented;
  const { type, parent, path, idForm } = resource;
  const id = parent ? nestedId(path) : 'id';
  return {
    path: `${collectionPath(resource)}/{${id}}`,
    method,
    operation: {
      ...head(resource, `${verb}${capitalized(type)}`, `${capitalized(verb)} ${withArticle(type)}`),
      ...(says === undefined ? {} : { description: says }),
      parameters: [...parentParameters(documented), pathParameter(id, idSchema(idForm), spoken(type))],
      ...(body ? { requestBody: body } : {}),
      responses: {
        200: answerOf(documented, 'The resource'),
        ...failureReferences([400, 401, ...failures, 500, 503]),
      },
    },
  };
}

/** What its rules and its unique fields refuse. */
function refusals({ rules, unique = [] }: Resource, operation: Operation): Failure[] {
  const taken: Failure[] = unique.length > 0 && operation !== 'delete' ? [409] : [];
  return [...taken, ...(rules?.refuses?.[operation] ?? [])];
}

/** `options` → `optionId` */
function nestedId(path: string): string {
  return `${path.replace(/ies$/, 'y').replace(/s$/, '')}Id`;
}

function requestBody(name: string, example: JsonObject): JsonObject {
  return { required: true, content: jsonContent(enveloped(reference(name)), { example: { data: example } }) };
}
