import { isObject } from '../../components/texts.ts';
import type { Schema } from './description.ts';

/** The merge patch (RFC 7396) that makes one object the other: what has gone is null, and lists are replaced as a whole. */
export function mergePatchOf(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [one, other] = [before[name], after[name]];
    if (JSON.stringify(one) === JSON.stringify(other)) continue;
    patch[name] = isObject(one) && isObject(other) ? mergePatchOf(one, other) : (other ?? null);
  }
  return patch;
}

/** The value of a form without empty texts, lists and objects; objects that the schema requires stay. */
export function withoutEmpty(value: unknown, given: Schema, resolve: (schema: Schema) => Schema): unknown {
  if (value === '' || value === null) return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value;
  const { properties = {}, required = [] } = resolve(given);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => {
    const kept = withoutEmpty(member, properties[name] ?? {}, resolve);
    return [name, kept] as const;
  });
  for (const name of required)
    if (
      properties[name] &&
      resolve(properties[name]).properties &&
      !members.some(([one, kept]) => one === name && kept !== undefined)
    )
      members.push([name, {}]);
  const kept = members.filter(([, member]) => member !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
