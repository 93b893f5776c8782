import { splitName } from '../schema/names.ts';
import { isObject } from '../schema/own.ts';
import type { Json, JsonObject } from '../schema/resource.ts';
import { type ResourceType, resolve } from '../schema/resource-type.ts';
import type { Query } from './context.ts';
import { badRequest } from './scim-error.ts';

/** Names of attributes as a tree, in lower case; true stands for all below. */
type Tree = true | Map<string, Tree>;

/** What of a resource is answered (RFC 7644 §3.9). */
export interface Projection {
  apply(resource: JsonObject): JsonObject;
  /** Whether anything of that core attribute can be in the answer; if not, it need not be read. */
  includes(name: string): boolean;
  /** Whether `attributes` asked for it: a PATCH is then answered with the resource (RFC 7644 §3.5.2). */
  isAsked: boolean;
}

/** More than all schemas have; a search has room for a hundred thousand. */
const MAX_NAMES = 1000;

/** "minimum set of resource attributes" that `attributes` and `excludedAttributes` cannot take away (RFC 7643 §7, returned). */
const always = ['schemas', 'id'];

/** Reads `attributes` and `excludedAttributes`; names that do not exist select nothing. */
export function projectionOf(type: ResourceType, { attributes, excludedAttributes }: Query): Projection {
  const [only, without] = [namesIn(attributes), namesIn(excludedAttributes)];
  // "mutually exclusive" (RFC 7644 §3.9)
  if (only && without) {
    throw badRequest('invalidValue', 'attributes and excludedAttributes cannot be used together.');
  }
  if (only) return selecting(treeOf(type, [...only, ...always]));
  return without
    ? excluding(
        treeOf(
          type,
          without.filter((name) => !always.includes(name)),
        ),
      )
    : everything;
}

/** Without either parameter: all that is returned by default, which is all that is kept. */
export const everything: Projection = { apply: (resource) => resource, includes: () => true, isAsked: false };

function selecting(tree: Tree): Projection {
  return {
    apply: (resource) => toObject(select(resource, tree)),
    includes: (name) => tree === true || tree.has(name.toLowerCase()),
    isAsked: true,
  };
}

function excluding(tree: Tree): Projection {
  return {
    apply: (resource) => toObject(exclude(resource, tree)),
    includes: (name) => tree === true || tree.get(name.toLowerCase()) !== true,
    isAsked: false,
  };
}

function namesIn(parameter: unknown): string[] | undefined {
  const text = Array.isArray(parameter) ? parameter.join(',') : parameter;
  if (typeof text !== 'string') return undefined;
  const names = new Set(text.split(',').map((name) => name.trim()));
  names.delete('');
  if (names.size > MAX_NAMES) throw badRequest('invalidValue', 'Too many attributes are named.');
  return [...names];
}

function treeOf(type: ResourceType, names: string[]): Tree {
  const root = new Map<string, Tree>();
  for (const text of names) {
    const name = splitName(text);
    const { urn, name: attribute } = name ? resolve(type, name) : {};
    const keys = [urn, attribute, name?.sub].filter((key) => key !== undefined);
    if (name && keys.length === 0) return true;
    insert(root, keys);
  }
  return root;
}

function insert(tree: Map<string, Tree>, [key, ...rest]: string[]): void {
  if (key === undefined) return;
  const folded = key.toLowerCase();
  const below = tree.get(folded);
  if (below === true) return;
  const branch = below ?? new Map<string, Tree>();
  tree.set(folded, rest.length === 0 ? true : branch);
  if (rest.length > 0) insert(branch, rest);
}

function select(value: Json, tree: Tree): Json {
  if (tree === true) return value;
  if (Array.isArray(value)) return value.map((element) => select(element, tree));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const below = tree.get(name.toLowerCase());
    return below ? [[name, select(inner, below)] as const] : [];
  });
  return Object.fromEntries(kept);
}

function exclude(value: Json, tree: Tree): Json {
  if (tree === true) return value;
  if (Array.isArray(value)) return value.map((element) => exclude(element, tree));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const below = tree.get(name.toLowerCase());
    if (below === true) return [];
    return [[name, below ? exclude(inner, below) : inner] as const];
  });
  return Object.fromEntries(kept);
}

function toObject(value: Json): JsonObject {
  return isObject(value) ? value : {};
}
