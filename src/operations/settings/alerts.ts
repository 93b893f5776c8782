import { z } from 'zod';
import { type Operations, serviceOperation } from '../operation.ts';

const name = z.string().describe('webhook, slack, teams, pagerduty or email');

/** The channels on which operators get alerts. */
export const alertOperations = {
  listAlertChannels: serviceOperation(
    {
      ...{ method: 'get', path: '/alerts', tag: 'Alerts', access: 'viewer' },
      summary: 'List the channels for alerts that the settings configure',
      result: z.object({ channels: z.array(z.object({ name })) }),
    },
    async (_input, { alertChannels }) => ({
      channels: alertChannels.map((channel) => ({ name: channel.name })),
    }),
  ),
  testAlerts: serviceOperation(
    {
      ...{ method: 'post', path: '/alerts/test', tag: 'Alerts', access: 'admin' },
      summary: 'Send a test alert to each channel, once, and tell what each has answered',
      result: z.object({
        results: z.array(z.object({ name, accepted: z.boolean(), text: z.string() })),
      }),
    },
    async (_input, { alertChannels }) => ({
      results: await Promise.all(
        alertChannels.map(async (channel) => ({ name: channel.name, ...(await channel.test()) })),
      ),
    }),
  ),
} satisfies Operations;
