/** A qualified attribute name in its parts; names as written. */
export interface QualifiedName {
  urn: string | undefined;
  attribute: string | undefined;
  sub: string | undefined;
}

/** Longer than any name or URN; names are compared again and again. */
export const MAX_NAME = 300;

/** ATTRNAME of RFC 7643 §2.1, and `$ref`, which the same RFC names against its own rule. */
const attributeName = /^\$?[A-Za-z][\w$-]*$/;

/**
 * Takes `urn:…:User:name.givenName`, `name.givenName` or `urn:…:User` apart; undefined when it is none of these.
 * Where the URN ends cannot be told from the characters alone ("2.0" has a dot, and every part is a word), so a version
 * followed by one name ends it, as in all URNs of RFC 7643 §10.3; without a version the last part is the attribute.
 */
export function splitName(text: string): QualifiedName | undefined {
  if (text.length > MAX_NAME) return undefined;
  if (!/^urn:/i.test(text)) return withNames(undefined, text);
  if (!/^[!-~]+$/.test(text)) return undefined;
  const parts = text.split(':');
  const version = parts.findLastIndex((part) => /^\d+(\.\d+)*$/.test(part));
  if (version < 2 || version === parts.length - 1) return afterLastColon(parts);
  const [type = '', ...dotted] = (parts[version + 1] ?? '').split('.');
  const urn = [...parts.slice(0, version + 1), type].join(':');
  // Old Entra writes a dot between the URN and the attribute.
  const rest = [...(dotted.length > 0 ? [dotted.join('.')] : []), ...parts.slice(version + 2)];
  if (rest.length === 0) return { urn, attribute: undefined, sub: undefined };
  return rest.length === 1 ? withNames(urn, rest[0] ?? '') : undefined;
}

function afterLastColon(parts: string[]): QualifiedName | undefined {
  const last = parts.at(-1) ?? '';
  if (parts.length < 3 || last === '') return undefined;
  const named = withNames(parts.slice(0, -1).join(':'), last);
  return named ?? { urn: parts.join(':'), attribute: undefined, sub: undefined };
}

function withNames(urn: string | undefined, dotted: string): QualifiedName | undefined {
  const [attribute, sub, ...more] = dotted.split('.');
  if (attribute === undefined || !attributeName.test(attribute) || more.length > 0) return undefined;
  if (sub !== undefined && !attributeName.test(sub)) return undefined;
  return { urn, attribute, sub };
}
