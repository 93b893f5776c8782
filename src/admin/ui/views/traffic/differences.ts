import { isObject, parseObject } from '../../components/texts.ts';

/** A value that a write sent, and what the answer has in its place. Both are JSON texts. */
export interface Difference {
  path: string;
  came: string | undefined;
  kept: string | undefined;
}

/** Members that the service assigns, or that are never answered. */
const assigned = new Set(['id', 'meta', 'schemas', 'password']);

/**
 * Compares the body of a SCIM write with the resource in its answer. Undefined if there is nothing to compare: one of them
 * is missing or not a JSON object, or the values of a PATCH have other places than attributes.
 */
export function compareBodies(request: string | undefined, response: string | undefined) {
  const [sent, answered] = [parseObject(request ?? ''), parseObject(response ?? '')];
  if (!sent || !answered || isError(answered)) return undefined;
  const kept = leavesOf(answered);
  const came = Array.isArray(sent['Operations']) ? valuesOf(sent['Operations']) : leavesOf(sent);
  const isWhole = !Array.isArray(sent['Operations']);
  const paths = isWhole ? new Set([...came.keys(), ...kept.keys()]) : new Set(came.keys());
  return [...paths].flatMap((key): Difference[] => {
    const [before, after] = [came.get(key), kept.get(key)];
    if (before?.value === after?.value) return [];
    return [{ path: before?.path ?? after?.path ?? key, came: before?.value, kept: after?.value }];
  });
}

interface Leaf {
  path: string;
  value: string;
}

function isError(body: Record<string, unknown>): boolean {
  return JSON.stringify(body['schemas'] ?? '').includes('messages:2.0:Error');
}

/** Returns the simple values of a resource by their paths, without case, as attribute names are. */
function leavesOf(resource: Record<string, unknown>): Map<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  for (const [name, value] of Object.entries(resource))
    if (!assigned.has(name.toLowerCase())) addLeaves(leaves, name, value);
  return leaves;
}

function addLeaves(leaves: Map<string, Leaf>, path: string, value: unknown): void {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) addLeaves(leaves, `${path}[${placeOf(item, index)}]`, item);
  else if (isObject(value))
    for (const [name, member] of Object.entries(value)) addLeaves(leaves, joinPath(path, name), member);
  else if (value !== null) leaves.set(path.toLowerCase(), { path, value: JSON.stringify(value) });
}

/** A value of a list is found by its type, because the order of values means nothing. */
function placeOf(item: unknown, index: number): string {
  if (!isObject(item)) return String(index);
  const { type, value } = item;
  return String(type ?? value ?? index);
}

function joinPath(path: string, name: string): string {
  return path.startsWith('urn:') && !path.includes('[') ? `${path}:${name}` : `${path}.${name}`;
}

/** Returns the values that the operations of a PATCH set. Paths with conditions other than the type are left out. */
function valuesOf(operations: unknown[]): Map<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  for (const operation of operations) {
    if (!isObject(operation)) continue;
    const { op, path, value } = operation;
    if (typeof op !== 'string' || op.toLowerCase() === 'remove') continue;
    if (typeof path === 'string') {
      const plain = path.replace(/\[type eq "([^"]*)"\]/gi, '[$1]');
      if (!/[[][^\]]*\s/.test(plain)) addLeaves(leaves, plain, value);
    } else if (isObject(value))
      for (const [name, member] of Object.entries(value)) addLeaves(leaves, name, member);
  }
  return leaves;
}
