import { Webhook } from 'standardwebhooks';

/** What is signed: the id by which receivers recognise doubles, and the time in epoch milliseconds. */
export interface Message {
  id: string;
  at: number;
  body: string;
}

/** The headers of Standard Webhooks; signed with each secret, so that one can be replaced without an interruption. */
export function signatureHeaders({ id, at, body }: Message, secrets: string[]): Record<string, string> {
  const time = new Date(at);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, time, body)).join(' '),
  };
}
