/** Adds the state to the index of held people: an active person may be held because of the scope of the mapping. */
export const indexHeldPeople: readonly string[] = [
  'drop index identity_held',
  `create index identity_held on identity
    (account, connection_id, hold_cause, hold_since, active, deleted_at, travel_id, decision, version, state)
    where hold_cause is not null`,
];
