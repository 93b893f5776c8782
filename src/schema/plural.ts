import { type Attribute, attribute, complex } from './attribute.ts';

/** What differs between the multi-valued attributes of RFC 7643 §4.1.2. */
interface Plural {
  /** The kinds that `type` suggests; none: any text, and none is published. */
  types?: readonly string[];
  required?: boolean;
  value?: Partial<Pick<Attribute, 'type' | 'referenceTypes' | 'caseExact'>>;
}

/** A multi-valued attribute with the sub-attributes of RFC 7643 §2.4. */
export function plural(
  name: string,
  description: string,
  { types, required, value }: Plural = {},
): Attribute {
  return complex(name, description, {
    multiValued: true,
    required: required ?? false,
    subAttributes: [attribute('value', 'The value itself.', value), ...labels(types)],
  });
}

/** display, type and primary (RFC 7643 §2.4). */
export function labels(types: readonly string[] | undefined): Attribute[] {
  return [
    attribute('display', 'A name for people to read.'),
    attribute('type', 'What it is for.', types ? { canonicalValues: types } : {}),
    attribute('primary', 'Whether it is the preferred one; true at most once.', { type: 'boolean' }),
  ];
}
