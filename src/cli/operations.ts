import { readConditions } from '../checks/conditions.ts';
import { exchangeReader } from '../log/search.ts';
import { withAuditEntry } from '../operations/audited.ts';
import { type OperationDeps, operationDeps } from '../operations/deps.ts';
import { type FieldFault, OperationError, toOperationError } from '../operations/errors.ts';
import { splitInput } from '../operations/input.ts';
import {
  type Declaration,
  type FlatInput,
  isRecorded,
  type OperationContext,
  type OperationInput,
  type OperationOutput,
  type Operations,
} from '../operations/operation.ts';
import { describeOutage } from '../provisioning/conditions/facts.ts';
import { timeOrderedId } from '../server/ids.ts';
import { ApiError } from '../travel/errors.ts';
import { databaseTime, type OpenedDatabase, withDatabase } from './database.ts';
import { Refused, WrongUse } from './exit-code.ts';
import { escapeLine, type Shell } from './terminal/output.ts';
import { currentUser } from './terminal/terminal.ts';

/** Runs operations in this process, as the user of the operating system, who has the role admin. */
export interface Operator<Deps extends OperationDeps = OperationDeps> {
  deps: Deps;
  /** Runs an operation of a family. A change has an entry in the audit log. Throws an OperationError. */
  call<F extends Operations, Name extends keyof F & string>(
    family: F,
    name: Name,
    input: FlatInput<F[Name]>,
  ): Promise<OperationOutput<F[Name]>>;
}

/** Opens the database and runs operations on it, beside a running server or without one. Returns 1 if one of them is refused. */
export function withOperations(shell: Shell, work: (operator: Operator) => Promise<void>): Promise<0 | 1> {
  return withDatabase(shell, (opened) => refusing(async () => work(operatorOn(await commandDeps(opened)))));
}

/** Creates the dependencies of operations on stored data for a command. */
export async function commandDeps({ database, settings, store }: OpenedDatabase): Promise<OperationDeps> {
  // The servers of a database compare times by its clock.
  const ahead = (await databaseTime(database)) - Date.now();
  const now = () => Date.now() + ahead;
  const read = () => readConditions(settings, database, now());
  return operationDeps({
    ...{ settings, database, store, now, newId: timeOrderedId },
    connections: settings.connections.map((connection) => ({ settings: connection })),
    conditions: { read, findOutage: async (id) => describeOutage(id, (await read()).facts) },
    exchanges: exchangeReader(database),
    // A running server looks each second.
    wake: () => {},
  });
}

/** Returns what runs operations with these dependencies. */
export function operatorOn<Deps extends OperationDeps>(deps: Deps): Operator<Deps> {
  const user = currentUser();
  const caller = { kind: 'command', id: user, shownName: user, role: 'admin' } as const;
  const { publicUrl = '' } = deps.settings;
  return {
    deps,
    call: async (family, name, flat) => {
      const operation = family[name] as Declaration & { handle: Handle<Deps> };
      const input = parseFlags(operation, flat);
      const details: Record<string, unknown> = { ...input.params };
      const note = (facts: Record<string, unknown>) => void Object.assign(details, facts);
      const { signal } = new AbortController();
      const run = () => operation.handle(input, deps, { caller, publicUrl, signal, note });
      if (!isRecorded(operation)) return run();
      const entry = { actor: `command line: ${user}`, actorKind: 'command', address: '' } as const;
      return withAuditEntry(run, { ...entry, action: name, details }, { ...deps, log: silent });
    },
  };
}

/** The handler of the named operation. Its result has the type that the caller expects of that operation. */
type Handle<Deps> = (
  input: OperationInput<Declaration>,
  deps: Deps,
  context: OperationContext,
) => Promise<never>;

const silent = { error: () => {} };

/** Throws Refused in place of an error of an operation or of the embedded travel service. */
async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isRefusal = error instanceof OperationError || error instanceof ApiError;
    throw isRefusal ? toRefused(toOperationError(error)) : error;
  }
}

/** The message of an error of an operation, with each fault of the input in a line of its own. */
function toRefused({ message, faults }: OperationError): Refused {
  return new Refused([escapeLine(message), ...faultLines(faults)].join('\n'));
}

function faultLines(faults: readonly FieldFault[]): string[] {
  return faults.map(({ field, message }) => escapeLine(`  ${field}: ${message}`));
}

/** Parses the input of a command. Throws WrongUse with each fault. */
function parseFlags(operation: Declaration, flat: object): OperationInput<Declaration> {
  try {
    return splitInput(operation, flat);
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    throw new WrongUse([error.message, ...faultLines(error.faults)].join('\n'));
  }
}

/** A page of a list: its rows, and the same as objects for JSON. */
export interface ListPage {
  rows: readonly unknown[];
  json: readonly object[];
}

/** Yields the pages of a list up to a number of rows: one page if it takes no limit. `items` is the member of the result with the rows. */
export async function* listPages<
  F extends Operations,
  Name extends keyof F & string,
  Items extends keyof OperationOutput<F[Name]> & string,
>(
  { call }: Operator,
  [family, name, items]: readonly [family: F, name: Name, items: Items],
  input: Omit<FlatInput<F[Name]>, 'limit' | 'after' | 'before'>,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<ListPage> {
  const { query, result } = family[name] as Declaration;
  const place = query && 'before' in query.shape ? 'before' : 'after';
  let count = 0;
  let next: unknown;
  do {
    const size =
      query && 'limit' in query.shape ? { limit: Math.min(PAGE, limit - count), [place]: next } : {};
    // The input of a list has these members, and its result `next`.
    const page: unknown = await call(family, name, { ...input, ...size } as unknown as FlatInput<F[Name]>);
    const rows: readonly unknown[] = Object(page)[items];
    count += rows.length;
    yield { rows, json: Object(result?.encode(Object(page)))[items] };
    next = Object(page).next;
  } while (next !== undefined && count < limit);
}

/** The rows that are read at a time. */
const PAGE = 200;

/** Yields the pages of a file of CSV. Its rows are those of JSON, too. */
export async function* downloadPages<F extends Operations, Name extends keyof F & string>(
  { call }: Operator,
  [family, name]: readonly [family: F, name: Name],
  input: FlatInput<F[Name]>,
): AsyncGenerator<ListPage> {
  const pages: AsyncIterable<readonly object[]> = Object(await call(family, name, input));
  for await (const rows of pages) yield { rows, json: rows };
}
