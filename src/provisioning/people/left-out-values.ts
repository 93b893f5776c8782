import { isDeepStrictEqual } from 'node:util';
import type { Identity, Origin } from '../../model/identity.ts';
import type { IdentityChange } from '../../model/store-ports.ts';
import type { Finding } from '../../model/translation.ts';
import type { LeftOutValue } from '../../schema/left-out.ts';
import type { ScimResource } from '../../schema/resource.ts';
import { userType } from '../../schema/resource-types.ts';
import { nearest } from '../../schema/similar-words.ts';

/** A PUT or PATCH, and the values of it that do not fit the schema. */
interface ReportingWrite {
  after: ScimResource;
  kind: 'replace' | 'patch';
  reported: LeftOutValue[];
}

/**
 * Returns the values that are left out after a write. A PUT replaces them. After a PATCH, those of attributes that it did not change
 * are still left out; a misspelt attribute counts until the next PATCH that changes or reports something.
 */
export function leftOutAfter(
  { desired, origin }: Pick<Identity, 'desired' | 'origin'>,
  { after, kind, reported: all }: ReportingWrite,
): LeftOutValue[] {
  const { leftOut = [] } = origin;
  const reported = all.filter(
    ({ code, attribute }) => code !== 'attributeUnknown' || similarAttribute(attribute) !== undefined,
  );
  if (kind === 'replace') return reported;
  if (reported.length === 0 && isDeepStrictEqual(desired, after)) return leftOut;
  const earlier = leftOut.filter(
    ({ code, attribute }) =>
      code !== 'attributeUnknown' &&
      !reported.some((value) => value.attribute === attribute) &&
      isDeepStrictEqual(attributeValues(desired, attribute), attributeValues(after, attribute)),
  );
  return [...earlier, ...reported];
}

/** Returns the attribute of a schema that an unknown name probably means. Other unknown names are custom attributes. */
function similarAttribute(name: string): string | undefined {
  const { schema, extensions } = userType;
  return nearest(
    name,
    [schema, ...extensions].flatMap(({ attributes }) => attributes.map((one) => one.name)),
  );
}

/** The value of the attribute that a left-out value belongs to, at the top level or in an extension. */
function attributeValues(resource: ScimResource, attribute: string): unknown[] {
  const [name = ''] = attribute.split('.');
  const containers = Object.entries(resource).filter(([key]) => key.includes(':'));
  return [resource[name], ...containers.map(([, container]) => Object(container)[name])];
}

/** True if the identity has these left-out values already. */
export function hasSameLeftOut({ origin }: Pick<Identity, 'origin'>, leftOut: LeftOutValue[]): boolean {
  return isDeepStrictEqual(origin.leftOut ?? [], leftOut);
}

/** Returns the write with these left-out values in place of earlier ones. */
export function withLeftOut<Write extends { identity: Identity; changes: IdentityChange[] }>(
  write: Write,
  leftOut: LeftOutValue[],
): Write {
  if (hasSameLeftOut(write.identity, leftOut)) return write;
  const { leftOut: _, ...origin } = write.identity.origin;
  return withOrigin(write, leftOut.length === 0 ? origin : { ...origin, leftOut });
}

/** Returns the write with another origin of its identity. */
export function withOrigin<Write extends { identity: Identity; changes: IdentityChange[] }>(
  write: Write,
  origin: Origin,
): Write {
  const identity = { ...write.identity, origin };
  const changes = write.changes.map(
    (change): IdentityChange =>
      'identity' in change && change.identity === write.identity ? { ...change, identity } : change,
  );
  return { ...write, identity, changes };
}

/** The findings about values of requests that the user does not have. */
export function leftOutFindings({ origin }: Pick<Identity, 'origin'>): Finding[] {
  return (origin.leftOut ?? []).map(({ code, attribute, value, fault }) => ({
    field: '*',
    code,
    value: value ?? attribute,
    reason: `${reasons[code](attribute)} ${fault}`,
    remedy: remedies[code],
  }));
}

const reasons = {
  severalValues: (attribute) =>
    `The identity provider sent several values of ${attribute}, and the first usable one counts.`,
  valueRefused: (attribute) =>
    attribute === '*'
      ? 'The request was too large, and only the deactivation was carried out.'
      : `A value of ${attribute} was left out, so that it does not prevent the deactivation.`,
  attributeUnknown: (attribute) =>
    `The identity provider changed ${attribute}, which only a mapping rule reads; ${similarAttribute(attribute) ?? 'another one'} may be meant.`,
} satisfies Record<LeftOutValue['code'], (attribute: string) => string>;

const remedies = {
  severalValues: 'Map one value to this attribute in the identity provider.',
  valueRefused:
    'Correct the value in the identity provider; it replaces the earlier one when it is sent again.',
  attributeUnknown:
    'Correct the name of the attribute in the identity provider, or leave it if a rule reads it; /Schemas lists the names.',
} satisfies Record<LeftOutValue['code'], string>;
