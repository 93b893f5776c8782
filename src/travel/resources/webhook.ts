import { z } from 'zod';
import type { Invalid } from '../errors.ts';
import { checked, flag, oneOf, text } from '../fields.ts';
import type { Json, JsonObject } from '../json.ts';
import { type Change, defineResource } from '../resource.ts';
import { item } from '../validation.ts';
import { isPrivateHost } from '../webhooks/address-guard.ts';
import { webhookSecret } from '../webhooks/secret.ts';
import { eventKinds } from './event.ts';

const LONGEST_URL = 2048;

const url = checked(
  'url',
  `must be an http or https URL without credentials, at most ${LONGEST_URL} characters long`,
  isReceiver,
).meta({
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://',
  maxLength: LONGEST_URL,
  examples: ['https://example.com/travel'],
});

/** "Webhooks, which deliver events to an application endpoint." */
export const webhook = defineResource({
  type: 'webhook',
  path: 'webhooks',
  idForm: 'A',
  schema: z
    .strictObject({
      description: text.optional(),
      disabled: flag,
      events: z
        .array(oneOf(eventKinds))
        // Whoever takes the last kind out means none, and "none given" would be all.
        .refine((kinds) => kinds.length > 0, {
          error: 'must name at least one kind: leave it out for every kind, or set "disabled" for none',
          params: { code: 'required' },
        })
        .optional()
        .meta({ minItems: 1, description: 'The kinds that are delivered; left out: every kind' }),
      url,
    })
    .meta({ description: 'An endpoint of an application, to which events are delivered' }),
  secret: webhookSecret,
  operations: ['list', 'create', 'retrieve', 'patch', 'replace', 'delete'],
  events: ['created', 'updated', 'deleted'],
  sortBy: [],
  filters: [],
  rules: {
    check: async ({ wanted, privateReceivers }) => ({
      doc: withoutRepeats(wanted),
      invalid: privateReceivers ? [] : privateReceiver(wanted),
    }),
    index: ({ doc }) => selected(doc).map((value) => ({ name: 'kind', value })),
  },
  example: {
    description: 'Tells the expense tool of new invoices',
    events: ['invoice.created', 'invoice.updated'],
    url: 'https://expenses.example.com/travel-events',
  },
});

function isReceiver(given: string): boolean {
  // What the URL parser would take away or mend is a slip of whoever wrote it.
  if (given.length > LONGEST_URL || !/^https?:\/\/[^\s\\]+$/i.test(given) || !URL.canParse(given))
    return false;
  const { username, password } = new URL(given);
  return username === '' && password === '';
}

function withoutRepeats(wanted: Change['wanted']): JsonObject {
  const { events } = wanted;
  return Array.isArray(events) ? { ...wanted, events: [...new Set<Json>(events)] } : wanted;
}

function privateReceiver(wanted: JsonObject): Invalid[] {
  if (!isPrivateHost(new URL(String(wanted['url'])).hostname)) return [];
  return [item('url', ['url'], wanted, 'must not lead to a private address')];
}

/** Events find a webhook by their kind; one that is disabled is not found. */
function selected({ disabled, events }: JsonObject): string[] {
  if (disabled === true) return [];
  return Array.isArray(events) ? events.map(String) : ['*'];
}
