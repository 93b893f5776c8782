import { type QualifiedName, readingIn, splitName, urnsOf } from '../schema/names.ts';
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
  if (only) return selecting(selectionOf(type, [...only, ...always]));
  if (!without) return everything;
  return excluding(
    selectionOf(
      type,
      without.filter((name) => !always.includes(name)),
    ),
  );
}

/** Without either parameter: all that is returned by default, which is all that is kept. */
export const everything: Projection = { apply: (resource) => resource, includes: () => true, isAsked: false };

/** The names of a request: those that mean the same in every resource, and how the others divide in one resource. */
interface Selection {
  tree: Tree;
  treeIn(resource: JsonObject): Tree;
}

function selecting({ tree, treeIn }: Selection): Projection {
  return {
    apply: (resource) => toObject(select(resource, treeIn(resource))),
    includes: (name) => tree === true || tree.has(name.toLowerCase()),
    isAsked: true,
  };
}

function excluding({ tree, treeIn }: Selection): Projection {
  return {
    apply: (resource) => toObject(exclude(resource, treeIn(resource))),
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

function selectionOf(type: ResourceType, texts: string[]): Selection {
  const names = texts.flatMap((text) => splitName(text) ?? []);
  const tree = treeOf(
    type,
    names.filter(({ readings }) => !readings),
  );
  const open = names.filter(({ readings }) => readings);
  if (tree === true || open.length === 0) return { tree, treeIn: () => tree };
  return {
    tree,
    treeIn: rememberingLast((resource) => {
      const isKnown = urnsOf(resource);
      const here = open.map((name) => readingIn(name, isKnown)).filter(({ urn = '' }) => isKnown(urn));
      return treeOf(type, here, copyOf(tree));
    }),
  };
}

/** Keeps the last tree: most resources of a page have the same extensions, and only their URNs make a difference. */
function rememberingLast(treeIn: Selection['treeIn']): Selection['treeIn'] {
  let last: { urns: string; tree: Tree } | undefined;
  return (resource) => {
    const urns = JSON.stringify(Object.keys(resource).filter((key) => key.includes(':')));
    if (last?.urns !== urns) last = { urns, tree: treeIn(resource) };
    return last.tree;
  };
}

function treeOf(type: ResourceType, names: QualifiedName[], root = new Map<string, Tree>()): Tree {
  for (const name of names) {
    const { urn, name: attribute } = resolve(type, name);
    const keys = [urn, attribute, name.sub].filter((key) => key !== undefined);
    if (keys.length === 0) return true;
    insert(root, keys);
  }
  return root;
}

function copyOf(tree: Map<string, Tree>): Map<string, Tree> {
  return new Map([...tree].map(([key, below]) => [key, below === true ? below : copyOf(below)]));
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
