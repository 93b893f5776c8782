import { z } from 'zod';
import { connectionModeNames } from '../../provisioning/policies.ts';
import type { Contract } from './operation.ts';
import { name } from './schemas.ts';

const written = z.record(z.string(), z.unknown());

const policy = z
  .object({
    name: z.string(),
    description: z.string().describe('What the settings say about it'),
    value: z.unknown(),
    text: z.string().describe('What its value does'),
    choices: z
      .array(z.object({ value: z.string(), text: z.string() }))
      .describe('The values that it can have; none for the safety valve, which has numbers'),
  })
  .meta({ id: 'Policy', description: 'A decision about existing, leaving and returning people' });
export type Policy = z.input<typeof policy>;

const details = z.object({
  source: z.enum(['file', 'database', 'demoDay']),
  isShadowed: z
    .boolean()
    .describe(
      'True if the database has a connection of this name too, which the one of the settings file replaces',
    ),
  policies: z.array(policy),
  travelApi: z.array(z.object({ name: z.string(), description: z.string(), value: z.unknown() })),
});
export type ConnectionDetails = z.input<typeof details>;

const tag = 'Connect';

/** Connections one by one: what the settings say about them, and changes of those that are stored in the database. */
export const connectionsContract = {
  describeConnection: {
    ...{ method: 'get', path: '/connections/{id}', tag, access: 'viewer' },
    summary: 'Describe a connection: its travel API, and its policies with what they do',
    result: details,
  },
  addConnection: {
    ...{ method: 'post', path: '/connections', tag, access: 'admin' },
    summary:
      'Add a connection, which is stored in the database. All replicas serve it within seconds. Members are those of the settings file',
    body: z.strictObject({
      name,
      travelApi: written.default({}),
      policies: written.default({}),
      mode: z.enum(connectionModeNames).default('live'),
    }),
    errors: ['conflict'],
  },
  changePolicies: {
    ...{ method: 'patch', path: '/connections/{id}/policies', tag, access: 'admin' },
    summary: 'Change policies of a stored connection. Those that are left out stay',
    body: z.strictObject({ policies: written }),
    errors: ['conflict'],
  },
  countRecords: {
    ...{ method: 'get', path: '/connections/{id}/records', tag, access: 'viewer' },
    summary: 'Count what belongs to a connection',
    result: z.object({
      people: z.int(),
      tombstones: z.int(),
      groups: z.int(),
      linked: z.int().describe('Travelers that no other connection of the account can link'),
    }),
  },
  removeConnection: {
    ...{ method: 'delete', path: '/connections/{id}', tag, access: 'admin' },
    summary:
      'Remove a stored connection with its people, groups, tokens and OAuth clients. Its travelers stay as they are, free for other connections',
    errors: ['conflict'],
  },
} as const satisfies Contract;
