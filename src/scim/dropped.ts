import { enterpriseSchema } from '../schema/enterprise-schema.ts';
import { groupSchema } from '../schema/group-schema.ts';
import { travelSchema } from '../schema/travel-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import type { ScimContext } from './context.ts';

/** Names that the log may show: an attribute of another schema, in a place where this one has none. */
const known = new Set(
  [userSchema, groupSchema, enterpriseSchema, travelSchema].flatMap(({ attributes }) =>
    attributes.map(({ name }) => name),
  ),
);

/** Tells the log that no schema knows some names of a body: a mapping of the IdP leads nowhere. Unknown names may be anything, so they are counted only. */
export function noteDropped({ scope }: ScimContext, dropped: string[]): void {
  if (dropped.length === 0) return;
  const names = [...new Set(dropped.map((name) => (known.has(name) ? name : '*')))];
  scope.log.info({ dropped: names, count: dropped.length }, 'attributes that no schema knows were left out');
}
