/** `value`: a value is of the wrong type or cannot be kept; `schemas`: the body is not of this kind of resource. */
export type SchemaFaultKind = 'value' | 'schemas';

/** Input that does not fit the schema. The message may be read by the client. */
export class SchemaFault extends Error {
  readonly kind: SchemaFaultKind;

  constructor(kind: SchemaFaultKind, message: string) {
    super(message);
    this.name = 'SchemaFault';
    this.kind = kind;
  }
}
