import type { ScimResource } from '../schema/resource.ts';
import type { Connection } from './connection.ts';
import type { Identity } from './identity.ts';
import type { Surroundings } from './ports.ts';

/** An identity of which nothing but its desired state is known: claimed, dirty, without a traveler. */
export function newIdentity(
  surroundings: Pick<Surroundings, 'now' | 'wallClock' | 'newId'>,
  connection: Pick<Connection, 'id'>,
  desired: ScimResource,
): Identity {
  const time = surroundings.wallClock();
  return {
    connection: connection.id,
    id: surroundings.newId(),
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
    writtenAt: surroundings.now(),
  };
}
