import type { ScimResource } from '../schema/resource.ts';
import type { Applied } from '../translator/result.ts';
import { toTravel } from '../translator/to-travel.ts';
import type { Bases } from './basis.ts';
import type { Connection } from './connection.ts';
import type { Identity } from './identity.ts';
import type { Surroundings } from './ports.ts';
import { rewritten } from './rewritten.ts';

/** A write of an IdP to a known identity. */
export interface Write {
  before: Identity;
  after: ScimResource;
  kind: 'replace' | 'patch';
}

/**
 * The identity with the new desired state, claimed and dirty. With the first write an imported identity becomes the
 * IdP's: fields whose source a PATCH removes become ours with it, so that they are removed from the traveler too; what
 * a PUT merely leaves out does not.
 */
export function claimed(
  shop: { bases: Pick<Bases, 'known'>; surroundings: Pick<Surroundings, 'now' | 'wallClock'> },
  connection: Connection,
  { before, after, kind }: Write,
): Identity {
  const applied =
    !before.claimed && kind === 'patch'
      ? removedBy(shop.bases, connection, { before, after })
      : before.applied;
  return {
    ...rewritten(before, shop.surroundings),
    desired: after,
    applied,
  };
}

function removedBy(
  bases: Pick<Bases, 'known'>,
  connection: Connection,
  { before, after }: { before: Identity; after: ScimResource },
): Applied {
  const { rules, lookups } = bases.known(connection);
  const snapshot = { lookups, references: new Map() };
  const was = toTravel(rules, before.desired, snapshot).fields;
  const is = toTravel(rules, after, snapshot).fields;
  const applied: Applied = {};
  for (const [key, field] of Object.entries(was)) {
    if (field.kind !== 'value' || key === 'email' || key === 'archived') continue;
    if ((is[key]?.kind ?? 'absent') !== 'absent') continue;
    applied[key] = { sent: field.value, answered: field.value, source: field.source };
  }
  return applied;
}
