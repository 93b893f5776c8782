import type { Response } from 'express';
import type { GroupStory } from '../bridge/groups.ts';
import type { Log } from '../bridge/ports.ts';
import type { UserStory } from '../bridge/users.ts';
import type { Conditions } from './conditions.ts';

/** All that a request knows; SCIMMY's classes are shared by the whole process and know nothing themselves. */
export interface ScimContext {
  /** The connection that the bearer token belongs to. */
  connection: string;
  /** The URL that locations begin with, e.g. `https://bridge.example/scim/v2`. */
  base: string;
  users: UserStory;
  groups: GroupStory;
  scope: { log: Log };
  response: Response;
  conditions: Conditions;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
}

/** The query parameters as they came: a name given twice has an array. */
export type Query = Record<string, unknown>;

/** Aborted when the connection of a request closes, before or after its answer. */
export function closeSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  if (response.closed) controller.abort();
  else response.once('close', () => controller.abort());
  return controller.signal;
}
