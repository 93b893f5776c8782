/** The ten comparisons of RFC 7644 §3.4.2.2, without `pr`. */
export type Comparison = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';

/** A value to compare with. */
export type Operand = string | number | boolean | null;

/** A filter as a tree (RFC 7644 §3.4.2.2). A value path is a `pr` whose path has a filter. */
export type Filter =
  | { op: 'and' | 'or'; operands: Filter[] }
  | { op: 'not'; operand: Filter }
  | { op: 'pr'; path: AttributePath }
  | { op: Comparison; path: AttributePath; value: Operand };

/** Where in a resource: `urn:attribute[filter].sub`; names as written (RFC 7644 §3.5.2, figure 7). */
export interface AttributePath extends NameParts {
  filter: Filter | undefined;
  /** All ways to divide the name, where it has several (`QualifiedName` in names.ts). */
  readings?: readonly NameParts[];
}

/** The parts of a qualified attribute name, as written. */
export interface NameParts {
  /** The schema URN in front, when there was one. */
  urn: string | undefined;
  /** Undefined when the name is a URN and nothing else. */
  attribute: string | undefined;
  sub: string | undefined;
}

/** Why a path or a filter cannot be read, and at which character, from 0. */
export interface PathFault {
  fault: string;
  position: number;
}
