import { z } from 'zod';
import { keysUrlProblem } from '../../oauth/clients.ts';
import type { OperationDeps } from '../deps.ts';
import { invalidField } from '../errors.ts';
import { type Operations, serviceOperation } from '../operation.ts';
import { changeStored } from './stored-settings.ts';

/** A workload of another issuer that gets access tokens of a connection. */
export const workload = z.strictObject({ issuer: z.string(), subject: z.string(), audience: z.string() });

const accessBody = z
  .strictObject({
    federation: z.array(workload).nullable(),
    requestsPerSecond: z.number().nullable(),
    allowFrom: z.array(z.string()).nullable(),
  })
  .partial()
  .describe('null removes a setting');

/** Changes of which requests of an identity provider are accepted. */
export const accessOperations = {
  changeAccess: serviceOperation(
    {
      ...{ method: 'patch', path: '/connections/{id}/access', tag: 'Connect', access: 'admin' },
      summary:
        'Change which requests of a stored connection are accepted: its federation and limits. Those that are left out stay',
      body: accessBody,
      errors: ['conflict'],
    },
    async ({ params: { id }, body }, deps, { note }) => {
      note({ connection: id, ...body });
      requirePublicIssuers(body.federation ?? [], deps);
      await changeStored(id, deps, (before) => {
        const members = Object.entries({ ...before, ...body }).filter(([, value]) => value !== null);
        return Object.fromEntries(members);
      });
    },
  ),
} satisfies Operations;

/** The keys of an issuer are read where it says. An admin of the page must not choose addresses in the network of the service. */
function requirePublicIssuers(federation: z.output<typeof workload>[], { settings }: OperationDeps): void {
  for (const [index, { issuer }] of federation.entries()) {
    const problem = URL.canParse(issuer) ? keysUrlProblem(issuer, settings.oauthClients) : undefined;
    if (problem !== undefined) throw invalidField(`federation.${index}.issuer`, problem);
  }
}
