/** Any JSON value; `undefined` never stands inside one. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** A JSON object, by attribute name. */
export interface JsonObject {
  [name: string]: Json;
}

/** A SCIM resource as it is kept and answered: canonical attribute names and types, the IdP's values verbatim (RFC 7643 §3). */
export type ScimResource = JsonObject;

/** The URNs of the schemas this service knows (RFC 7643 §8, and the travel extension). */
export const urns = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  enterprise: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  travel: 'urn:ietf:params:scim:schemas:extension:travel:2.0:User',
} as const;
