import type { AttributePath, PathFault } from './filter-expression.ts';
import { valuesAt } from './filter-match.ts';
import { FilterParser, orFault, SyntaxFault } from './filter-parser.ts';
import type { Json, ScimResource } from './resource.ts';
import { userType } from './schemas.ts';

export type { AttributePath, PathFault } from './filter-expression.ts';

/** Longer than any path of use. */
const MAX_PATH_LENGTH = 4096;

/** Reads an attribute path (RFC 7644 §3.5.2, figure 7): `name.givenName`, `emails[type eq "work"].value`, `urn:…:User:department`. */
export function parsePath(text: string): AttributePath | PathFault {
  return orFault(() => {
    if (text.length > MAX_PATH_LENGTH) throw new SyntaxFault('the path is too long', MAX_PATH_LENGTH);
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
