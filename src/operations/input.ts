import { z } from 'zod';
import { hasNul } from '../schema/json-depth.ts';
import { type FieldFault, OperationError } from './errors.ts';
import type { Declaration, OperationInput } from './operation.ts';
import { id } from './schemas.ts';

/** The input of an operation before its checks. */
interface GivenInput {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
}

/** Parses parameters, query and body by the declaration. Throws 404 for an impossible id, else 422 with every fault. */
export function parseInput({ query, body }: Declaration, given: GivenInput): OperationInput<Declaration> {
  const faults: FieldFault[] = [];
  const parse = (schema: z.ZodObject | undefined, value: unknown) => {
    if (!schema) return {};
    const parsed = schema.safeParse(value);
    for (const [field, member] of Object.entries(Object(value)))
      if (hasNul(member))
        faults.push({ field, message: 'contains the character NUL, which cannot be stored' });
    if (!parsed.success) faults.push(...parsed.error.issues.flatMap(toFaults));
    return parsed.data ?? {};
  };
  const params = pathParameters.safeParse(given.params);
  if (!params.success || hasNul(params.data)) throw new OperationError('notFound');
  const unknown = query ? [] : Object.keys(given.query);
  faults.push(...unknown.map((field) => ({ field, message: 'is not a parameter of this operation' })));
  const input = { params: params.data, query: parse(query, given.query), body: parse(body, given.body) };
  if (faults.length > 0)
    throw new OperationError('invalid', undefined, { faults: faults.slice(0, MAX_FAULTS) });
  return input;
}

const pathParameters = z.record(z.string(), id);

/** Maximum number of faults in a response. */
const MAX_FAULTS = 100;

function toFaults(issue: z.core.$ZodIssue): FieldFault[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ field: [...path, key].join('.'), message: 'is not known here' }));
  return [{ field: path.join('.'), message: issue.message }];
}

/** Distributes an input that is one object to the parameters of the path and to the body or the query, and parses it. */
export function splitInput(declaration: Declaration, flat: object): OperationInput<Declaration> {
  const rest = new Map(Object.entries(flat).filter(([, value]) => value !== undefined));
  const names = [...declaration.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const params = Object.fromEntries(names.map((name) => [name, rest.get(name)]));
  for (const name of names) rest.delete(name);
  const members = Object.fromEntries(rest);
  const { body } = declaration;
  return parseInput(declaration, { params, query: body ? {} : members, body: body ? members : {} });
}
