import type { CountedParts } from '../../model/translation.ts';
import { isObject, type ScimResource, urns } from '../../schema/resource.ts';
import { isEqualJson, isUnassigned, valueAt } from './values.ts';

/** A complex attribute that names one resource by any of its parts. */
interface ReferenceAttribute {
  urn: string;
  name: string;
  parts: readonly string[];
  /** Another attribute of the same extension that names the resource, too. */
  besides?: string;
}

const named = ['id', 'name'];

const referenceAttributes: readonly ReferenceAttribute[] = [
  { urn: urns.travel, name: 'manager', parts: ['id', 'email'] },
  { urn: urns.travel, name: 'costCenter', parts: named, besides: 'costCenterId' },
  { urn: urns.travel, name: 'billingProfile', parts: named, besides: 'billingProfileId' },
  { urn: urns.travel, name: 'travelPolicy', parts: named, besides: 'travelPolicyId' },
  { urn: urns.enterprise, name: 'manager', parts: ['value', '$ref'] },
];

/** Returns the key of an attribute in `CountedParts`. */
export function referenceKey(urn: string, name: string): string {
  return `${urn}:${name}`;
}

/**
 * Determines which parts count after a write. If a write changes one part of a reference and leaves the others as they were
 * (an old `id` beside a new `name`), the others describe the former resource.
 */
export function countChangedParts(
  before: ScimResource,
  after: ScimResource,
  counted: CountedParts = {},
): CountedParts | undefined {
  const next: Record<string, string> = {};
  for (const attribute of referenceAttributes) {
    const part = countedPartOf(attribute, { before, after, counted });
    if (part !== undefined) next[referenceKey(attribute.urn, attribute.name)] = part;
  }
  return Object.keys(next).length > 0 ? next : undefined;
}

function countedPartOf(
  { urn, name, parts, besides }: ReferenceAttribute,
  { before, after, counted }: { before: ScimResource; after: ScimResource; counted: CountedParts },
): string | undefined {
  if (!isObject(valueAt(after, urn, name))) return undefined;
  const valueIn = (resource: ScimResource, part: string) =>
    part === besides ? valueAt(resource, urn, besides) : valueAt(resource, urn, name, part);
  const all = besides === undefined ? parts : [...parts, besides];
  const assigned = all.filter((part) => !isUnassigned(valueIn(after, part)));
  if (assigned.length < 2) return undefined;
  const changed = assigned.filter((part) => !isEqualJson(valueIn(before, part), valueIn(after, part)));
  if (changed.length === 0) return counted[referenceKey(urn, name)];
  return changed.length < assigned.length ? changed[0] : undefined;
}
