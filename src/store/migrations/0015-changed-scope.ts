import { ofConnection, SCOPE, scopeKey, type TableDeclarations } from './columns.ts';

/** The people of a scope that has changed with a group (docs/decisions/0054). */
export const changedScopeTables = {
  /** A connection whose people become dirty in batches as far as its scope concerns them: a group that the scope names has appeared or is gone. */
  changed_scope: {
    columns: {
      ...scopeKey,
      /** The id of the last person who was looked at; empty at the beginning. */
      identity_id: 'ordered text',
    },
    constraints: [`primary key (${SCOPE})`, ofConnection],
  },
} as const satisfies TableDeclarations;
