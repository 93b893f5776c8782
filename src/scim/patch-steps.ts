import type { AttributePath } from '../schema/expression.ts';
import { isUrn, splitName } from '../schema/names.ts';
import { checkedName } from '../schema/open-value.ts';
import { isObject } from '../schema/own.ts';
import { parsePath } from '../schema/paths.ts';
import type { Json, JsonObject } from '../schema/resource.ts';
import type { Operation } from './patch-message.ts';
import { badRequest } from './scim-error.ts';

/** What one operation, or one key of a path-less one, does at one place. */
export interface Step {
  op: Operation['op'];
  path: AttributePath;
  value: Json | undefined;
  /** Whether the client named the place in `path`; keys of a path-less value are forgiven more. */
  isExplicit: boolean;
}

/** What one request may weigh: far more than any client sends, and little enough to be done in an instant. */
const MAX_WEIGHT = 1500;

/** The steps of all operations, in order; a PATCH that asks for too much at once is refused. */
export function boundedSteps(operations: Operation[]): Step[] {
  const weight = operations.reduce((sum, operation) => sum + weightOf(operation), 0);
  if (weight > MAX_WEIGHT)
    throw badRequest('invalidValue', 'The PATCH asks for too much at once; send it in parts.');
  return operations.flatMap(stepsOf);
}

/** Every value is compared with those there are, and a filter with each of them, so both count. */
function weightOf({ path = '', value }: Operation): number {
  const inner = isObject(value) ? Object.values(value) : [value ?? null];
  const values = inner.map((one) => (typeof one === 'object' && one !== null ? Object.keys(one).length : 1));
  return values.reduce((sum, count) => sum + count, 1 + path.length / 20);
}

/** The path of an operation, or 400 invalidPath. */
export function pathOf(text: string): AttributePath {
  const path = parsePath(text);
  if ('fault' in path) {
    throw badRequest(
      'invalidPath',
      `The path cannot be read at character ${path.position + 1}: ${path.fault}.`,
    );
  }
  return path;
}

function stepsOf({ op, path, value }: Operation): Step[] {
  if (path !== undefined) return [{ op, path: pathOf(path), value, isExplicit: true }];
  return isObject(value) ? stepsOfKeys(op, value, undefined) : [];
}

/** Keys of a path-less value are paths themselves: `name.givenName`, `urn:…:User:department`, `emails[type eq "work"].value`. */
export function stepsOfKeys(op: Operation['op'], value: JsonObject, urn: string | undefined): Step[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = pathOfKey(key, inner, urn);
    return path ? [{ op, path, value: inner, isExplicit: false }] : [];
  });
}

/** Names that are none, such as URLs, cannot be attributes; a broken filter is a mistake to tell. */
function pathOfKey(key: string, value: Json, urn: string | undefined): AttributePath | undefined {
  const name = splitName(key);
  if (name) return { ...name, urn: name.urn ?? urn, filter: undefined };
  if (isUrn(key) && isObject(value))
    return { urn: key, attribute: undefined, filter: undefined, sub: undefined };
  if (key.includes('[')) {
    const path = pathOf(key);
    return { ...path, urn: path.urn ?? urn };
  }
  // An extension that no schema declares is kept as sent, whatever its names are.
  const isOpen = urn !== undefined && (splitName(urn)?.readings ?? []).length > 0;
  return isOpen ? { urn, attribute: checkedName(key, urn), filter: undefined, sub: undefined } : undefined;
}
