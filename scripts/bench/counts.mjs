/** The statements of SQLite, and the writes to the socket of PostgreSQL, each of which is followed by waiting for an answer. */
export const counts = { statements: 0, sends: 0 };
