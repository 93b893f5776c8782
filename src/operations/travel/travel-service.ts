import { z } from 'zod';
import { hideUrlCredentials } from '../../http/redaction.ts';
import type { TravelReader } from '../../travel/ports.ts';
import { ADMIN_INDEX, user } from '../../travel/resources/user.ts';
import { type Operations, serviceOperation } from '../operation.ts';

const tag = 'Travel service';

/** The embedded travel service. Its resources are read and changed by its own API, below `/travel-api`. */
export const travelOperations = {
  describeTravelService: serviceOperation(
    {
      ...{ method: 'get', path: '/travel', tag, access: 'viewer' },
      summary: 'Tell whether the embedded travel service is in use, or where the others are',
      result: z.object({
        embedded: z.boolean(),
        others: z.array(z.object({ connection: z.string(), url: z.string() })),
        admins: z
          .array(z.string())
          .describe('Email addresses of admins of the embedded service, to whom keys can belong'),
      }),
    },
    async (_input, deps) => ({
      embedded: deps.embedded !== undefined,
      others: deps.connections
        .filter(({ settings: { travelApi } }) => travelApi.url !== 'embedded')
        .map(({ settings: { id, travelApi } }) => ({
          connection: id,
          url: hideUrlCredentials(travelApi.url),
        })),
      admins: deps.embedded ? await listAdmins(deps.embedded.travel.store) : [],
    }),
  ),
} satisfies Operations;

const MAX_ADMINS = 50;

async function listAdmins(store: TravelReader): Promise<string[]> {
  const { name, value } = ADMIN_INDEX;
  const admins = await store.find({ type: user.type, name, values: [value], limit: MAX_ADMINS });
  return admins.map(({ doc }) => String(doc['email'])).sort();
}
