import type { ScimResource } from '../schema/resource.ts';
import type { Connection } from './connection.ts';
import type { Identity } from './identity.ts';
import type { Runtime } from './ports.ts';

/** An identity of which nothing but its desired state is known: claimed, dirty, without a traveler. */
export function newIdentity(
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId'>,
  connection: Pick<Connection, 'id'>,
  desired: ScimResource,
): Identity {
  const time = runtime.wallClock();
  return {
    connection: connection.id,
    id: runtime.newId(),
    desired,
    claimed: true,
    state: 'dirty',
    version: 1,
    revision: 1,
    rulesVersion: undefined,
    travelId: undefined,
    applied: {},
    refused: {},
    observed: undefined,
    creating: undefined,
    waitingFor: undefined,
    progress: {},
    origin: {},
    hold: undefined,
    decision: undefined,
    findings: [],
    trace: [],
    leasedUntil: undefined,
    attempts: 0,
    nextAttemptAt: undefined,
    createdAt: time,
    lastModified: time,
    deletedAt: undefined,
    writtenAt: runtime.now(),
  };
}

/** The identity with what every write of an IdP sets besides the desired state: it is claimed, dirty, and due at once. */
export function withNextVersion(
  before: Identity,
  { now, wallClock }: Pick<Runtime, 'now' | 'wallClock'>,
): Identity {
  return {
    ...before,
    claimed: true,
    version: before.version + 1,
    lastModified: wallClock(),
    writtenAt: now(),
    state: 'dirty',
    attempts: 0,
    nextAttemptAt: undefined,
  };
}
