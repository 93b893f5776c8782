import {
  chooseReading,
  extensionTest,
  parseAttributeName,
  type QualifiedName,
} from '../../schema/attribute-names.ts';
import { isObject, type Json, type JsonObject } from '../../schema/resource.ts';
import { type ResourceType, resolveAttribute } from '../../schema/resource-types.ts';
import type { Query } from '../protocol/endpoint.ts';
import { badRequest } from '../protocol/errors.ts';

/** Selects the attributes of a resource that the response contains (RFC 7644 §3.9). */
export interface Projection {
  /** Returns the resource with only these attributes. */
  apply(resource: JsonObject): JsonObject;
  /** Returns true if the response may contain any part of this core attribute. If not, the store need not read it. */
  includes(name: string): boolean;
  /** True if the request has the parameter `attributes`: a PATCH must then return the resource (RFC 7644 §3.5.2). */
  isExplicit: boolean;
}

/** The projection without parameters: all attributes. */
export const fullProjection: Projection = {
  apply: (resource) => resource,
  includes: () => true,
  isExplicit: false,
};

/**
 * The largest number of attribute names in a request. All schemas together have fewer, but the body of a search could
 * contain a hundred thousand.
 */
const MAX_NAMES = 1000;

/** The "minimum set of resource attributes", which no parameter removes (RFC 7643 §7, returned). */
const alwaysReturned = ['schemas', 'id'];

/** Parses `attributes` and `excludedAttributes`. Unknown names are ignored, and a parameter without a name counts as absent. */
export function parseProjection(type: ResourceType, { attributes, excludedAttributes }: Query): Projection {
  const [included, excluded] = [parseNames(attributes), parseNames(excludedAttributes)];
  // `attributes` and `excludedAttributes` are "mutually exclusive" (RFC 7644 §3.9).
  if (included && excluded) {
    throw badRequest('invalidValue', 'attributes and excludedAttributes cannot be used together.');
  }
  if (included) {
    const { tree, treeIn } = toSelection(type, [...included, ...alwaysReturned]);
    return {
      apply: (resource) => asObject(project(resource, treeIn(resource), 'select')),
      includes: (name) => tree === true || tree.has(name.toLowerCase()),
      isExplicit: true,
    };
  }
  if (!excluded) return fullProjection;
  const names = excluded.filter((name) => !isAlwaysReturned(type, name));
  const { tree, treeIn } = toSelection(type, names);
  return {
    apply: (resource) => asObject(project(resource, treeIn(resource), 'exclude')),
    includes: (name) => tree === true || tree.get(name.toLowerCase()) !== true,
    isExplicit: false,
  };
}

/** Names are compared without case, and may have the URN of the core schema in front. */
function isAlwaysReturned(type: ResourceType, text: string): boolean {
  const name = parseAttributeName(text);
  return name !== undefined && resolveAttribute(type, name).attribute?.returned === 'always';
}

function parseNames(parameter: unknown): string[] | undefined {
  const text = Array.isArray(parameter) ? parameter.join(',') : parameter;
  if (typeof text !== 'string') return undefined;
  const names = new Set(text.split(',').map((name) => name.trim()));
  names.delete('');
  if (names.size > MAX_NAMES) throw badRequest('invalidValue', 'Too many attributes are named.');
  return names.size === 0 ? undefined : [...names];
}

/** Attribute names in lower case, as a tree; `true` selects an attribute with all sub-attributes. */
type Tree = true | Map<string, Tree>;

/**
 * The selected attributes. `tree` contains only names that mean the same in every resource, `treeIn` all names as they
 * apply to one resource.
 */
interface Selection {
  tree: Tree;
  treeIn(resource: JsonObject): Tree;
}

/**
 * Parses attribute names. In the name of an undeclared extension, the URN ends differently depending on the extensions
 * that a resource has.
 */
function toSelection(type: ResourceType, texts: string[]): Selection {
  const names = texts.flatMap((text) => parseAttributeName(text) ?? []);
  const [clear, ambiguous] = [
    names.filter(({ readings }) => !readings),
    names.filter(({ readings }) => readings),
  ];
  const tree = toTree(type, clear);
  if (tree === true || ambiguous.length === 0) return { tree, treeIn: () => tree };
  return {
    tree,
    treeIn: (resource) => {
      const isExtension = extensionTest(resource);
      const chosen = ambiguous.map((name) => chooseReading(name, isExtension));
      return toTree(type, [...clear, ...chosen.filter(({ urn = '' }) => isExtension(urn))]);
    },
  };
}

/** Makes the tree of some names. A name that means the whole resource makes the tree `true`. */
function toTree(type: ResourceType, names: QualifiedName[]): Tree {
  const root = new Map<string, Tree>();
  for (const name of names) {
    const { urn, name: attribute } = resolveAttribute(type, name);
    const keys = [urn, attribute, name.sub].filter((key) => key !== undefined);
    if (keys.length === 0) return true;
    insert(root, keys);
  }
  return root;
}

function insert(tree: Map<string, Tree>, [key, ...rest]: string[]): void {
  if (key === undefined) return;
  const name = key.toLowerCase();
  const below = tree.get(name);
  if (below === true) return;
  const branch = below ?? new Map<string, Tree>();
  tree.set(name, rest.length === 0 ? true : branch);
  if (rest.length > 0) insert(branch, rest);
}

/** Returns a value with only the selected names, or with all others. */
function project(value: Json, tree: Tree, mode: 'select' | 'exclude'): Json {
  if (tree === true) return value;
  if (Array.isArray(value)) return value.map((element) => project(element, tree, mode));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const below = tree.get(name.toLowerCase());
    const isKept = mode === 'select' ? below !== undefined : below !== true;
    return isKept ? [[name, below ? project(inner, below, mode) : inner] as const] : [];
  });
  return Object.fromEntries(kept);
}

function asObject(value: Json): JsonObject {
  return isObject(value) ? value : {};
}
