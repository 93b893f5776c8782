/**
 * Counts the unclaimed people, whom a connection may leave out of its lists, and adds the indexes of the lists without them and of the
 * people about whom an admin has decided.
 */
export const countUnclaimedPeople = [
  `insert into list_counter (account, connection_id, kind, slot, count, active)
    select account, connection_id, 'unclaimed', 0, count(*), sum(active) from identity
    where claimed = 0 and deleted_at is null group by account, connection_id`,
  `create index identity_claimed on identity (account, connection_id, position, id, active)
    where claimed = 1 and deleted_at is null`,
  `create index identity_decided on identity (account, connection_id, finding_codes) where decision <> ''`,
];
