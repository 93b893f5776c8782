import { lists } from '../schema/lists.ts';
import { isObject, ownValue } from '../schema/own.ts';
import type { Json, JsonObject } from '../schema/resource.ts';
import { isUnassigned } from '../schema/values.ts';
import { badRequest } from './scim-error.ts';

const patchOp = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** One operation of a PATCH (RFC 7644 §3.5.2). */
export interface Operation {
  op: 'add' | 'remove' | 'replace';
  path: string | undefined;
  /** Undefined when there was none. */
  value: Json | undefined;
}

/**
 * Reads the body of a PATCH. "Each operation object MUST have exactly one "op" member" (RFC 7644 §3.5.2); its case and
 * that of all names is forgiven, and so are missing `schemas`, which legacy clients leave out. An empty list of operations
 * changes nothing: Microsoft's validator sends one.
 */
export function parsePatch(body: JsonObject): Operation[] {
  checkSchemas(ownValue(body, 'schemas'));
  const operations = ownValue(body, 'Operations');
  if (!Array.isArray(operations)) throw badRequest('invalidSyntax', 'Operations must be an array.');
  return operations.map(parseOperation);
}

function checkSchemas(schemas: Json | undefined): void {
  if (isUnassigned(schemas) || lists(schemas, patchOp)) return;
  throw badRequest('invalidSyntax', `schemas must be ["${patchOp}"].`);
}

function parseOperation(operation: Json, index: number): Operation {
  const where = `Operation ${index + 1}`;
  if (!isObject(operation)) throw badRequest('invalidSyntax', `${where} must be an object.`);
  const op = toOp(ownValue(operation, 'op'), where);
  const path = ownValue(operation, 'path') ?? undefined;
  const value = ownValue(operation, 'value');
  if (path !== undefined && typeof path !== 'string') {
    throw badRequest('invalidPath', `The path of ${where} must be a string.`);
  }
  // "If "path" is unspecified, the operation fails with … "noTarget"" (RFC 7644 §3.5.2.2).
  if (op === 'remove' && path === undefined) throw badRequest('noTarget', `${where} must have a path.`);
  if (op === 'add' && value === undefined) throw badRequest('invalidValue', `${where} must have a value.`);
  if (path === undefined && !isObject(value)) {
    throw badRequest('invalidValue', `${where} has no path, so its value must be an object.`);
  }
  return { op, path, value };
}

function toOp(op: Json | undefined, where: string): Operation['op'] {
  const folded = typeof op === 'string' ? op.toLowerCase() : undefined;
  if (folded === 'add' || folded === 'remove' || folded === 'replace') return folded;
  throw badRequest('invalidSyntax', `${where} must have an op: add, remove or replace.`);
}
