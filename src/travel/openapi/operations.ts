import { type DocumentedOperation, jsonContent, objectSchema, schemaRef } from '../../contract/openapi.ts';
import type { Json, JsonObject } from '../json.ts';
import { plainParameters } from '../list-parameters.ts';
import type { Operation, Resource, SubCollection } from '../resource.ts';
import { type Failure, failureRefs } from './failures.ts';
import { pageResponse, queryParameters } from './lists.ts';
import {
  capitalize,
  idMembers,
  patchExample,
  schemaNames,
  toPlural,
  toWords,
  withArticle,
} from './schemas.ts';

/** A resource to document, with the catalog of all resources and an example of its response. */
export interface DocumentedResource {
  resource: Resource;
  catalog: Resource[];
  example: JsonObject;
  /** The example of the response that contains the secret, if the type has one. */
  revealing: JsonObject;
}

/** Returns all operations that follow from the declaration of a resource. */
export function operationsOf(documented: DocumentedResource): DocumentedOperation[] {
  const { operations, subCollections = [] } = documented.resource;
  return [
    ...operations.map((operation) => describers[operation](documented)),
    ...subCollections.map((sub) => subListOperation(documented, sub)),
  ];
}

/** The tag that groups the operations of a resource. */
export function tagOf({ type }: Resource): string {
  return capitalize(toWords(toPlural(type)));
}

type Described = Omit<DocumentedOperation, 'tag'> & {
  /** Besides those of every operation. */
  failures: Failure[];
};

/** Adds the tag, and the failures that every operation can have. */
export function operation(
  { resource }: Pick<DocumentedResource, 'resource'>,
  { failures, responses, ...described }: Described,
): DocumentedOperation {
  const all = failureRefs([400, 401, ...failures, 500, 503]);
  return { tag: tagOf(resource), ...described, responses: { ...responses, ...all } };
}

const describers = {
  list: (documented) => {
    const { resource } = documented;
    const names = toPlural(resource.type);
    return operation(documented, {
      ...{ id: `list${capitalize(names)}`, summary: `List ${toWords(names)}` },
      ...{ method: 'get', path: collectionPath(resource) },
      parameters: [...parentParameters(documented), ...queryParameters(resource.parameters)],
      responses: pageResponse(schemaNames(resource).answered, documented.example, resource.parameters),
      failures: resource.parent ? [404] : [],
    });
  },
  create: (documented) => {
    const { resource } = documented;
    return operation(documented, {
      ...{ id: `create${capitalize(resource.type)}`, summary: `Create ${withArticle(resource.type)}` },
      ...{ method: 'post', path: collectionPath(resource) },
      parameters: parentParameters(documented),
      body: dataContent(schemaNames(resource).written, resource.example),
      responses: { 201: secretResponse(documented, 'The created resource') },
      failures: [...(resource.parent ? [404 as const] : []), ...writeFailures(resource, 'create')],
    });
  },
  retrieve: (documented) => itemOperation(documented, { method: 'get', verb: 'retrieve', failures: [] }),
  patch: (documented) =>
    itemOperation(documented, {
      ...{ method: 'patch', verb: 'update' },
      description:
        'Fields in the body are changed, those that are null are removed, others stay (JSON merge patch, RFC 7396).',
      body: dataContent(schemaNames(documented.resource).patched, patchExample(documented.resource)),
      failures: writeFailures(documented.resource, 'patch'),
    }),
  replace: (documented) =>
    itemOperation(documented, {
      ...{ method: 'put', verb: 'replace' },
      description: 'Fields that the body leaves out are removed, except `archived`, which keeps its value.',
      body: dataContent(schemaNames(documented.resource).written, documented.resource.example),
      failures: writeFailures(documented.resource, 'replace'),
    }),
  delete: (documented) =>
    itemOperation(documented, {
      ...{ method: 'delete', verb: 'delete' },
      description: 'Returns the resource as it was before.',
      // Other resources can refer to a resource of any type, so every DELETE can be answered with 409.
      failures: [409, ...(documented.resource.rules?.refuses?.delete ?? [])],
    }),
} satisfies Record<Operation, (documented: DocumentedResource) => DocumentedOperation>;

function itemOperation(
  documented: DocumentedResource,
  {
    verb,
    failures,
    ...described
  }: Pick<Described, 'method' | 'description' | 'body' | 'failures'> & { verb: string },
): DocumentedOperation {
  const { resource } = documented;
  const { type, parent, path, idForm } = resource;
  // E.g. `options` becomes `optionId`.
  const id = parent ? `${path.replace(/ies$/, 'y').replace(/s$/, '')}Id` : 'id';
  return operation(documented, {
    ...{ id: `${verb}${capitalize(type)}`, summary: `${capitalize(verb)} ${withArticle(type)}` },
    path: `${collectionPath(resource)}/{${id}}`,
    ...described,
    parameters: [...parentParameters(documented), idParameter(id, type, idForm)],
    responses: { 200: resourceResponse(documented, 'The resource') },
    failures: [404, ...failures],
  });
}

/** The failures of a body, of unique fields and of the rules of a resource. */
function writeFailures(
  { rules, unique = [] }: Resource,
  operation: 'create' | 'patch' | 'replace',
): Failure[] {
  return [
    ...(unique.length > 0 ? [409 as const] : []),
    ...(rules?.refuses?.[operation] ?? []),
    413,
    415,
    422,
  ];
}

/** Describes the list of a resource under an item of another type. */
function subListOperation(documented: DocumentedResource, sub: SubCollection): DocumentedOperation {
  const { resource, catalog } = documented;
  const { path } = resource;
  const names = toPlural(resource.type);
  const parameters = 'idsIn' in sub ? plainParameters : resource.subParameters;
  return operation(documented, {
    id: `list${capitalize(names)}Of${capitalize(sub.type)}`,
    summary: `List ${toWords(names)} of ${withArticle(sub.type)}`,
    ...{ method: 'get', path: `/api/${sub.path}/{id}/${path}` },
    parameters: [parentParameter(catalog, sub.type), ...queryParameters(parameters)],
    responses: pageResponse(schemaNames(resource).answered, documented.example, parameters),
    failures: [404],
  });
}

/** The path template of the collection. */
function collectionPath({ parent, path }: Resource): string {
  return parent ? `/api/${parent.path}/{id}/${path}` : `/api/${path}`;
}

/** The path parameters of a nested collection; none for others. */
function parentParameters({ resource: { parent }, catalog }: DocumentedResource): JsonObject[] {
  return parent ? [parentParameter(catalog, parent.type)] : [];
}

function parentParameter(catalog: Resource[], type: string): JsonObject {
  return idParameter('id', type, catalog.find((resource) => resource.type === type)?.idForm ?? 'B');
}

/** A path parameter with the id of a resource. */
export function idParameter(name: string, type: string, form: 'A' | 'B'): JsonObject {
  const schema = { type: 'string', ...idMembers(form) };
  return { name, in: 'path', required: true, description: `The id of the ${toWords(type)}.`, schema };
}

/** A response with one resource. */
export function resourceResponse({ resource, example }: DocumentedResource, description: string): JsonObject {
  return { description, content: dataContent(schemaNames(resource).answered, example) };
}

/** A response with one resource and its secret, if the type has one. */
export function secretResponse(documented: DocumentedResource, description: string): JsonObject {
  const { resource, revealing } = documented;
  if (!resource.secret) return resourceResponse(documented, description);
  return { description, content: dataContent(schemaNames(resource).revealing, revealing) };
}

/** The content `{"data": …}`, with the schema of this name. */
export function dataContent(name: string, data: Json): JsonObject {
  return jsonContent(objectSchema({ data: schemaRef(name) }), { example: { data } });
}
