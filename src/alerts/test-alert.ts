import { newAlertId } from './alert-sender.ts';
import type { Alert, Channel } from './channel.ts';

/** What a channel has answered to a test alert, or why it has failed. */
export interface TestResult {
  channel: Channel['name'];
  accepted: boolean;
  text: string;
}

/** Sends a test alert to a channel, once. */
export async function sendTestAlert(channel: Channel, at: number): Promise<TestResult> {
  const alert: Alert = {
    ...{ type: 'alerts.test', at, severity: 'info', data: {}, path: '/overview' },
    text: 'This is a test. Alerts of Jetbridge arrive here.',
  };
  const delivery = await channel.deliver({ id: newAlertId(), alert }, new AbortController().signal);
  const accepted = 'answer' in delivery;
  return { channel: channel.name, accepted, text: accepted ? delivery.answer : delivery.failure };
}
