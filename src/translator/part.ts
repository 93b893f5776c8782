import type { Decision } from './decide.ts';
import type { FieldKey, Translation } from './result.ts';

/** What some of the rules contribute to a translation. */
export type Part = Omit<Translation, 'fallbackEmail'>;

/** One field's decision as a part. */
export function partOf(field: FieldKey, { wanted, ...rest }: Decision): Part {
  return { fields: { [field]: wanted }, ...rest };
}

/** Several parts in one, in their order; of a field that several decide, the last decision holds. */
export function joined(parts: Part[]): Part {
  const fields: Part['fields'] = {};
  for (const part of parts) Object.assign(fields, part.fields);
  return {
    fields,
    findings: parts.flatMap(({ findings }) => findings),
    trace: parts.flatMap(({ trace }) => trace),
    missed: parts.some(({ missed }) => missed),
  };
}
