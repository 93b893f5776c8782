/** Indexes dirty people by their rules, too: a plan that waits for another mode of the connection becomes old with the rules. */
export const indexStalePeople: readonly string[] = [
  'drop index identity_rules',
  'create index identity_rules on identity (account, connection_id, rules_generation) where claimed = 1',
];
