import type { z } from 'zod';
import { foldCase } from '../../schema/case-fold.ts';
import type { FieldFault } from '../errors.ts';
import { type JsonObject, stringMember } from '../json.ts';
import {
  type IndexedValue,
  type IndexKeys,
  type NamedValue,
  type ResourceRef,
  STATUS_SOURCE,
  type StoredResource,
  type TravelReader,
  type TravelTransaction,
} from '../ports.ts';
import { type FilterBy, filterParameters, filterValues } from './filters.ts';
import { type ListFeatures, type ListParameters, listParameters } from './list-parameters.ts';

const allOperations = ['list', 'create', 'retrieve', 'patch', 'replace', 'delete'] as const;

/** Operations that a resource can offer; any other is answered with 403. */
export type Operation = (typeof allOperations)[number];

/** Kinds of changes that can be announced as events. */
export type ChangeKind = 'created' | 'updated' | 'deleted';

/**
 * A list at `/<path>/<id of an item of type>/<path of this resource>`. It contains the resources whose `field` is the id of that
 * item, or, with `idsIn`, the resources whose ids that field of the item lists.
 */
export type SubCollection = { type: string; path: string } & ({ field: string } | { idsIn: string });

/** A change of one resource that its schema has accepted. It is not stored yet. */
export interface Change {
  operation: 'create' | 'patch' | 'replace';
  id: string;
  parent: StoredResource | undefined;
  /** The id of the authenticated user. */
  caller: string;
  /** If true, webhook URLs may name private addresses. */
  privateReceivers: boolean;
  before: JsonObject | undefined;
  wanted: JsonObject;
  transaction: TravelTransaction;
  /** Changes another resource of the same type in the same transaction. */
  saveOther(before: StoredResource, doc: JsonObject): Promise<void>;
}

/**
 * Rules of a resource that its schema, unique fields and references cannot express. Each function can throw an
 * ApiError.
 */
export interface ResourceRules {
  /** True if the rules decide by other resources of the type: then all writes of the type run one after the other. */
  compareWithOthers?: true;
  /** Returns the document to store (usually `wanted`, which may be normalized) and the invalid fields. */
  check?(change: Change): Promise<{ doc: JsonObject; invalid: FieldFault[] }>;
  /** Throws the ApiError `conflict` if a valid change clashes with another resource; requires `compareWithOthers`. */
  checkClash?(change: Change): Promise<void>;
  checkDelete?(resource: StoredResource, caller: string): void;
  /** The statuses of the ApiErrors that the rules throw, for the OpenAPI document. */
  refuses?: Partial<Record<Operation, (403 | 409)[]>>;
  /** Additional index entries, besides those of `sortBy` and `filters`. */
  index?(resource: StoredResource): NamedValue[];
  /** Returns the status that the document implies, or the resource from which it follows; for a filter by a status that is not stored. */
  status?(doc: JsonObject): string | ResourceRef;
  /** Returns the references that are nested deeper than top-level fields. */
  references?(doc: JsonObject): ResourceRef[];
  /** Returns the documents in their response form, in the same order. */
  serialize?(resources: StoredResource[], reader: TravelReader): Promise<JsonObject[]>;
}

/**
 * A secret that the service generates for a new resource. It is stored encrypted and returned only in the response to
 * its creation.
 */
export interface DeclaredSecret {
  field: string;
  make(): string;
  /** An example secret with the length of a real one. */
  example: string;
}

/** The declaration of one resource. Routes, validation, lists, the OpenAPI document and the conformance tests derive from it. */
export interface ResourceDeclaration extends ListFeatures {
  /** The `type` constant of the specification. */
  type: string;
  /** The last segment of the collection's path. */
  path: string;
  /** The forms of ids in the specification. A: 24 hexadecimal characters. B: a UUID or up to 50 other characters. */
  idForm: 'A' | 'B';
  /** The fields that clients can write. */
  schema: z.ZodObject;
  /**
   * Fields of responses that clients cannot write, besides `id`, `type` and `createdAt`. They are stored, or added by
   * the rule `serialize`.
   */
  readOnly?: z.ZodObject;
  secret?: DeclaredSecret;
  /** The fields by which the list can be filtered, besides the time of creation. */
  filterBy?: FilterBy;
  /** If true, clients can only list and retrieve. Otherwise all six operations are offered: the specification has nothing in between. */
  isReadOnly?: true;
  /** Changes that append an event of the kind `<type>.<change>`, which `eventKinds` in resources/event.ts must list. */
  events?: ChangeKind[];
  /** Fields whose value is unique within the type; with `fold`, ignoring case. */
  unique?: { field: string; fold: boolean }[];
  references?: { field: string; to: string }[];
  /** Two optional fields of which a resource has exactly one. */
  exactlyOneOf?: [string, string];
  /**
   * The type and path of the parent collection. With `outlived`, items stay stored when their parent is deleted, but
   * are hidden.
   */
  parent?: { type: string; path: string; outlived?: true };
  /** Lists of this resource below an item of another type. */
  subCollections?: SubCollection[];
  rules?: ResourceRules;
  /** A body that creates the resource in an empty account. */
  example: JsonObject;
}

/** A declaration with the values derived from it. */
export interface Resource extends Omit<ResourceDeclaration, keyof ListFeatures>, Required<ListFeatures> {
  operations: Operation[];
  /** Fields that a request body must not contain, because clients cannot write them. */
  unwritable: string[];
  collectionPath: string;
  itemPath: string;
  /** The query parameters of the list, and those of a list below an item of another type. */
  parameters: ListParameters;
  subParameters: ListParameters;
}

/** Completes a declaration with its operations, paths, read-only fields and parameters. */
export function defineResource(declaration: ResourceDeclaration): Resource {
  const {
    parent,
    path,
    readOnly,
    secret,
    isReadOnly,
    filterBy,
    cursor = false,
    sortBy = [],
    filters = [],
  } = declaration;
  const features = { cursor, sortBy, filters };
  const collectionPath = parent ? `/${parent.path}/:parentId/${path}` : `/${path}`;
  return {
    ...declaration,
    ...features,
    operations: isReadOnly ? ['list', 'retrieve'] : [...allOperations],
    unwritable: [
      ...['id', 'type', 'createdAt', ...Object.keys(readOnly?.shape ?? {})],
      ...(secret ? [secret.field] : []),
    ],
    collectionPath,
    itemPath: `${collectionPath}/:itemId`,
    parameters: listParameters(
      features,
      filterParameters(filterBy, { ...readOnly?.shape, ...declaration.schema.shape }),
    ),
    subParameters: listParameters({ ...features, filters: [] }),
  };
}

/** Derives the index entries of a resource from its document. */
export function indexKeys(resource: Resource, stored: StoredResource): IndexKeys {
  const { doc } = stored;
  const status = resource.rules?.status?.(doc);
  const searched = new Set([...resource.sortBy, ...(resource.filters.includes('emails') ? ['email'] : [])]);
  return {
    archived: doc['archived'] === true,
    unique: (resource.unique ?? []).map(({ field, fold: folded }) => {
      const value = stringMember(doc, field) ?? '';
      return { name: field, value: folded ? foldCase(value) : value };
    }),
    index: [
      ...[...searched].map((name) => ({ name, value: sortKey(doc, name) })),
      ...subCollectionKeys(resource, stored),
      ...(resource.rules?.index?.(stored) ?? []),
      ...(typeof status === 'object' ? [{ name: STATUS_SOURCE, value: `${status.type}/${status.id}` }] : []),
    ],
    references: referencesOf(resource, stored),
    ...(resource.filterBy && {
      filters: { ...filterValues(resource.filterBy, doc), ...(typeof status === 'string' && { status }) },
    }),
  };
}

function sortKey(doc: JsonObject, name: string): string {
  return foldCase(stringMember(doc, name) ?? '');
}

/**
 * Returns the name of the index by which resources are found by the value of `field`, in order of creation or sorted by
 * another field.
 */
export function subCollectionIndex(field: string, value: string, sortBy?: string): string {
  return sortBy === undefined ? `${field}/${value}` : `${field}/${value}/${sortBy}`;
}

function subCollectionKeys(resource: Resource, { doc, createdAt }: StoredResource): IndexedValue[] {
  return (resource.subCollections ?? []).flatMap((sub) => {
    const value = 'field' in sub ? stringMember(doc, sub.field) : undefined;
    if (value === undefined || !('field' in sub)) return [];
    const created = new Date(createdAt).toISOString();
    return [
      { name: subCollectionIndex(sub.field, value), value: created, counted: true },
      ...resource.sortBy.map((name) => ({
        name: subCollectionIndex(sub.field, value, name),
        value: sortKey(doc, name),
      })),
    ];
  });
}

function referencesOf(resource: Resource, { doc, parentId }: StoredResource): ResourceRef[] {
  const fields = (resource.references ?? []).flatMap(({ field, to }) => {
    const id = stringMember(doc, field);
    return id === undefined ? [] : [{ type: to, id }];
  });
  const parent = resource.parent ? [{ type: resource.parent.type, id: parentId }] : [];
  return [...fields, ...parent, ...(resource.rules?.references?.(doc) ?? [])];
}
