/** The roles of the travel service (specification, "user"). */
export const travelRoles = [
  'accountant',
  'admin',
  'authAdmin',
  'guest',
  'guestCreator',
  'manager',
  'organizer',
  'premium',
] as const;
