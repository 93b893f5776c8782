import { type Failure, failureReferences } from './answers.ts';
import {
  answerOf,
  type Described,
  type Documented,
  enveloped,
  jsonContent,
  reference,
  revealingAnswer,
  tagOf,
} from './operation.ts';
import { pathParameter } from './parameters.ts';
import { idSchema } from './shapes.ts';

/** What one can do with a webhook besides what its declaration stands for. */
export function webhookOperations(documented: Documented[]): Described[] {
  const find = (wanted: string) => documented.find(({ resource }) => resource.type === wanted);
  const [webhook, delivery] = [find('webhook'), find('webhookDelivery')];
  if (!webhook || !delivery) return [];
  return [replaceSecret(webhook), testWebhook(webhook), redeliver(delivery)];
}

const webhookId = pathParameter('id', idSchema('A'), 'webhook');
const deliveryId = pathParameter('deliveryId', idSchema('A'), 'webhook delivery');

function failures(more: Failure[] = []) {
  return failureReferences([400, 401, 404, ...more, 500, 503]);
}

function replaceSecret(webhook: Documented): Described {
  return {
    path: '/api/webhooks/{id}/secret',
    method: 'post',
    operation: {
      operationId: 'replaceWebhookSecret',
      summary: 'Make a new secret for a webhook',
      description: 'For 24 hours both secrets sign, so that the receiver can be changed without a gap.',
      tags: [tagOf(webhook.resource)],
      parameters: [webhookId],
      responses: { 200: revealingAnswer(webhook, 'The webhook with its new secret'), ...failures() },
    },
  };
}

function testWebhook(webhook: Documented): Described {
  const example = { data: { at: '2026-11-20T12:00:01Z', latencyMs: 83, status: 204 } };
  return {
    path: '/api/webhooks/{id}/test',
    method: 'post',
    operation: {
      operationId: 'testWebhook',
      summary: 'Send a test event to a webhook',
      description: [
        'An event of the kind `webhook.updated` by which nothing changed. It is sent now, once, even while the webhook',
        'is disabled, and is neither in the list of events nor in that of deliveries.',
      ].join('\n'),
      tags: [tagOf(webhook.resource)],
      parameters: [webhookId],
      responses: {
        200: {
          description: 'What came back; it arrived if there is no `error`',
          content: jsonContent(enveloped(reference('WebhookAttempt')), { example }),
        },
        ...failures(),
      },
    },
  };
}

function redeliver(delivery: Documented): Described {
  return {
    path: '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver',
    method: 'post',
    operation: {
      operationId: 'redeliver',
      summary: 'Deliver the event of a delivery again',
      description: 'A new delivery, at once, which does not wait for others.',
      tags: [tagOf(delivery.resource)],
      parameters: [webhookId, deliveryId],
      responses: { 201: answerOf(delivery, 'The new delivery'), ...failures([409]) },
    },
  };
}
