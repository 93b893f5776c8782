import { createHash } from 'node:crypto';
import { types } from 'node:util';

/** A statement is prepared from this use on. Most of those that filters of clients lead to are used less often. */
const USES = 10;
/** The number of prepared statements: each connection keeps the plans of all of them in the server's memory. */
const MAX_NAMES = 500;
const MAX_COUNTED = 5_000;

/**
 * Names the statements that are used often, so that the server parses and plans them once for each connection: planning takes most of
 * the time of a short statement. A name is derived from the text, so that it means the same statement in every process. Behind a
 * transaction pooler that does not support prepared statements, no statement is named any more after the first fault.
 */
export class StatementNames {
  readonly #names = new Map<string, string>();
  #uses = new Map<string, number>();
  #isSupported = true;

  nameOf(text: string): string | undefined {
    if (!this.#isSupported) return undefined;
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= MAX_NAMES) return known;
    const uses = (this.#uses.get(text) ?? 0) + 1;
    if (this.#uses.size >= MAX_COUNTED) this.#uses = new Map();
    this.#uses.set(text, uses);
    if (uses < USES) return undefined;
    this.#uses.delete(text);
    const name = createHash('sha256').update(text).digest('base64url');
    this.#names.set(text, name);
    return name;
  }

  /**
   * True if a statement has failed because of its name, before it ran: the pooler has sent it to a connection where it is not prepared,
   * or the schema has changed since.
   */
  isNameFault(error: unknown): boolean {
    const code = types.isNativeError(error) && 'code' in error ? String(error.code) : '';
    if (MISSING_OR_TAKEN.includes(code)) this.#isSupported = false;
    return MISSING_OR_TAKEN.includes(code) || (code === FEATURE_NOT_SUPPORTED && isPlanFault(error));
  }
}

/** invalid_sql_statement_name and duplicate_prepared_statement. */
const MISSING_OR_TAKEN = ['26000', '42P05'];
const FEATURE_NOT_SUPPORTED = '0A000';

function isPlanFault(error: unknown): boolean {
  return types.isNativeError(error) && error.message.includes('cached plan must not change result type');
}
