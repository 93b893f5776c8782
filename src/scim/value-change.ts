import type { Filter } from '../schema/expression.ts';
import type { Json } from '../schema/resource.ts';

/** What a PATCH does to one attribute. A value of null clears. */
export interface ValueChange {
  op: 'add' | 'remove' | 'replace';
  filter: Filter | undefined;
  sub: string | undefined;
  value: Json;
  /** Makes texts comparable without case; it remembers each text of the PATCH. */
  fold(text: string): string;
}
