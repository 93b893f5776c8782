import { valuesAt } from './evaluate.ts';
import type { AttributePath, PathFault } from './expression.ts';
import { FilterParser } from './filter.ts';
import type { Json, ScimResource } from './resource.ts';
import { userType } from './resource-type.ts';
import { orFault, SyntaxFault } from './syntax-fault.ts';

export type { AttributePath, PathFault } from './expression.ts';

/** Longer than any path of use. */
const MAX_LENGTH = 4096;

/** Reads an attribute path (RFC 7644 §3.5.2, figure 7): `name.givenName`, `emails[type eq "work"].value`, `urn:…:User:department`. */
export function parsePath(text: string): AttributePath | PathFault {
  return orFault(() => {
    if (text.length > MAX_LENGTH) throw new SyntaxFault('the path is too long', MAX_LENGTH);
    const parser = new FilterParser(text);
    const path = parser.path();
    parser.end();
    return path;
  });
}

/**
 * The values that a path leads to in a user: one for a single value, all those selected for a multi-valued attribute,
 * none when it is unassigned. Names, URNs and values compare as their attribute says (RFC 7643 §2.2).
 */
export function readPath(resource: ScimResource, path: AttributePath): Json[] {
  return valuesAt(userType, path, resource);
}
