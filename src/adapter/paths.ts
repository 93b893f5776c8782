/** Where the travel API keeps its collections; `{id}` stands for the custom field whose options are read. */
export interface TravelPaths {
  whoami: string;
  users: string;
  events: string;
  customFields: string;
  customFieldOptions: string;
  costCenters: string;
  billingProfiles: string;
  travelPolicies: string;
  scimUserMappings: string;
}

/** The paths of the embedded service; the specification fixes only those of whoami and users. */
export const defaultPaths: TravelPaths = {
  whoami: '/api/whoami',
  users: '/api/users',
  events: '/api/events',
  customFields: '/api/custom-fields',
  customFieldOptions: '/api/custom-fields/{id}/options',
  costCenters: '/api/cost-centers',
  billingProfiles: '/api/billing-profiles',
  travelPolicies: '/api/travel-policies',
  scimUserMappings: '/api/scim-user-mappings',
};
