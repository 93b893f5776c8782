import type { Json } from './resource.ts';

/** Whether `schemas` lists a URN; URNs are compared without case, and a single one may stand without an array. */
export function lists(schemas: Json | undefined, urn: string): boolean {
  const folded = urn.toLowerCase();
  return [schemas ?? []].flat().some((one) => typeof one === 'string' && one.toLowerCase() === folded);
}
