/** The URNs that tables of rules abbreviate, by their short names. */
export const shortUrns = {
  enterprise: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  travel: 'urn:ietf:params:scim:schemas:extension:travel:2.0:User',
};

/** Returns SCIM paths with short names in place of URNs, e.g. `enterprise:costCenter`. */
export function withShortUrns(text: string): string {
  return Object.entries(shortUrns).reduce((all, [name, urn]) => all.replaceAll(`${urn}:`, `${name}:`), text);
}
