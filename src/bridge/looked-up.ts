/** The types of the travel API in which rules and values are looked up. */
const types = new Set([
  'billingProfile',
  'costCenter',
  'customField',
  'customFieldOption',
  'scimUserMapping',
  'travelPolicy',
]);

/** Whether a change of something of this type may make people be translated otherwise. */
export function isLookedUp(type: string): boolean {
  return types.has(type);
}
