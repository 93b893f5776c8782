import type { z } from 'zod';
import { foldCase } from '../schema/case-fold.ts';
import type { FieldFault } from './errors.ts';
import { type JsonObject, stringMember } from './json.ts';
import type {
  IndexedValue,
  Keys,
  NamedValue,
  ResourceRef,
  StoredResource,
  TravelReader,
  TravelTransaction,
} from './ports.ts';

/** What a client may do with a resource; everything else is 403 forbidden. */
export type Operation = 'list' | 'create' | 'retrieve' | 'patch' | 'replace' | 'delete';

/** What a list can be narrowed by. */
export type Filter = 'archived' | 'emails' | 'status';

/** What can happen to a resource. */
export type ChangeKind = 'created' | 'updated' | 'deleted';

/** A list of those who name an item of another type in a field, or whom that item names in one of its own. */
export type SubCollection = { type: string; path: string } & ({ field: string } | { idsIn: string });

/** A change of one resource, after its schema has accepted it and before it is kept. */
export interface Change {
  operation: 'create' | 'patch' | 'replace';
  id: string;
  parent: StoredResource | undefined;
  /** The user on whose behalf it is made. */
  caller: string;
  /** True: events may be sent to private addresses. */
  privateReceivers: boolean;
  before: JsonObject | undefined;
  wanted: JsonObject;
  transaction: TravelTransaction;
  /** Changes another resource of the same type in the same transaction. */
  saveOther(before: StoredResource, doc: JsonObject): Promise<void>;
}

/** What a resource obeys beyond its schema, its unique fields and its references. A rule may also throw an ApiError. */
export interface ResourceRules {
  /** Answers the document to keep, which is what was wanted unless the rule puts it in another form. */
  check?(change: Change): Promise<{ doc: JsonObject; invalid: FieldFault[] }>;
  /** Refuses a valid change that clashes with another resource, by the ApiError `conflict`. */
  checkClash?(change: Change): Promise<void>;
  checkDelete?(resource: StoredResource, caller: string): void;
  /** The statuses of the ApiErrors that `check`, `checkClash` and `checkDelete` throw, for the contract. */
  refuses?: Partial<Record<Operation, (403 | 409)[]>>;
  /** Values to be found by, besides those of `sortBy` and `filters`. */
  index?(resource: StoredResource): NamedValue[];
  /** References that are deeper in the document than a field. */
  references?(doc: JsonObject): ResourceRef[];
  /** The documents as they are answered, in the same order. */
  serialize?(resources: StoredResource[], reading: TravelReader): Promise<JsonObject[]>;
}

/** A secret that the service makes for a new resource: kept encrypted, answered in that one answer, and nowhere else. */
export interface DeclaredSecret {
  field: string;
  make(): string;
  /** As long as a real one. */
  example: string;
}

/** The declaration of one resource: routes, validation, pages and conformance tests derive from it. */
export interface ResourceDeclaration {
  /** The constant `type` of the specification. */
  type: string;
  /** The last segment of the collection's path. */
  path: string;
  /** A: 24 hexadecimal characters. B: at most 50 characters, labelled uuid. */
  idForm: 'A' | 'B';
  /** The fields a client may write. */
  schema: z.ZodObject;
  /** Fields that are answered, but that no client may write, besides `id`, `type` and `createdAt`: kept, or derived by `present`. */
  readOnly?: z.ZodObject;
  secret?: DeclaredSecret;
  operations: Operation[];
  /** True: the collection is paged by cursor, too. */
  cursor?: boolean;
  /** The changes that are told as events of the kind `<type>.<change>`. */
  events?: ChangeKind[];
  /** Required fields by which a list may be sorted, besides `createdAt`; none: not even by that. */
  sortBy: string[];
  filters: Filter[];
  /** Fields whose value only one resource of the type may have; `fold`: without case. */
  unique?: { field: string; fold: boolean }[];
  references?: { field: string; to: string }[];
  /** The type whose items this collection is nested under, and that collection's path; `outlived`: what it leaves behind is hidden. */
  parent?: { type: string; path: string; outlived?: true };
  /** Sub-collections of other types' items that list a part of this one. */
  subCollections?: SubCollection[];
  rules?: ResourceRules;
  /** A body that creates one in an empty account. */
  example: JsonObject;
}

/** A declaration with what follows from it. */
export interface Resource extends ResourceDeclaration {
  /** What a body must not name. */
  unwritable: string[];
  collectionPath: string;
  itemPath: string;
}

/** Completes a declaration. */
export function defineResource(declaration: ResourceDeclaration): Resource {
  const { parent, path, readOnly, secret } = declaration;
  const collectionPath = parent ? `/${parent.path}/:parentId/${path}` : `/${path}`;
  return {
    ...declaration,
    unwritable: [
      ...['id', 'type', 'createdAt', ...Object.keys(readOnly?.shape ?? {})],
      ...(secret ? [secret.field] : []),
    ],
    collectionPath,
    itemPath: `${collectionPath}/:itemId`,
  };
}

/** What a resource is found by. */
export function indexKeys(resource: Resource, stored: StoredResource): Keys {
  const { doc } = stored;
  const searched = new Set([...resource.sortBy, ...(resource.filters.includes('emails') ? ['email'] : [])]);
  return {
    archived: doc['archived'] === true,
    unique: (resource.unique ?? []).map(({ field, fold: folded }) => {
      const value = stringMember(doc, field) ?? '';
      return { name: field, value: folded ? foldCase(value) : value };
    }),
    index: [
      ...[...searched].map((name) => ({ name, value: sortKey(doc, name), list: 'sorted' as const })),
      ...subCollectionKeys(resource, stored),
      ...(resource.rules?.index?.(stored) ?? []),
    ],
    references: referencesOf(resource, stored),
  };
}

function sortKey(doc: JsonObject, name: string): string {
  return foldCase(stringMember(doc, name) ?? '');
}

/** The index of those whose field has this value, in order of creation, or sorted by a field of theirs. */
export function subCollectionIndex(field: string, value: string, sortBy?: string): string {
  return sortBy === undefined ? `${field}/${value}` : `${field}/${value}/${sortBy}`;
}

function subCollectionKeys(resource: Resource, { doc, createdAt }: StoredResource): IndexedValue[] {
  return (resource.subCollections ?? []).flatMap((sub) => {
    const value = 'field' in sub ? stringMember(doc, sub.field) : undefined;
    if (value === undefined || !('field' in sub)) return [];
    const created = new Date(createdAt).toISOString();
    return [
      { name: subCollectionIndex(sub.field, value), value: created, list: 'counted' },
      ...resource.sortBy.map((name) => ({
        name: subCollectionIndex(sub.field, value, name),
        value: sortKey(doc, name),
        list: 'sorted' as const,
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
