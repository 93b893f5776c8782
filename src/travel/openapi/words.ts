/** `billingProfile` → `BillingProfile`. */
export function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** `travelPolicy` → `travelPolicies`. */
export function plural(type: string): string {
  return type.endsWith('y') ? `${type.slice(0, -1)}ies` : `${type}s`;
}

/** `scimUserMapping` → `SCIM user mapping`. */
export function spoken(type: string): string {
  return type.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/\bscim\b/, 'SCIM');
}

/** `invoice` → `an invoice`, `user` → `a user`. */
export function withArticle(type: string): string {
  return `${/^[aeio]/.test(type) ? 'an' : 'a'} ${spoken(type)}`;
}
