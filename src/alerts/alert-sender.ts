import { randomUUID } from 'node:crypto';
import type { AlertSettings } from '../config/alert-settings.ts';
import type { Log, Runtime } from '../model/runtime-ports.ts';
import type { Alert, Channel, ChannelDeps } from './channel.ts';
import { emailChannel } from './email-channel.ts';
import { pagerdutyChannel, signedWebhook, slackChannel, teamsChannel } from './http-channels.ts';

/** Waits between the attempts to deliver one alert, in milliseconds; after the last attempt the alert is dropped. */
const RETRY_DELAYS_MS = [1_000, 5_000, 30_000, 120_000];
/** The maximum number of alerts that wait while the receiver of a channel does not answer. Then the oldest is dropped. */
const QUEUE_LIMIT = 100;

/** Sends alerts in the background until it is closed: on each channel one after the other, and no channel waits for another one. */
export interface AlertSender {
  /** Returns at once and never fails. */
  send(alert: Alert): void;
  /** Aborts the running deliveries and drops the waiting alerts. */
  close(): Promise<void>;
}

interface Deps {
  clock: Pick<Runtime, 'wait'>;
  log: Pick<Log, 'warn' | 'error'>;
}

/** Returns the channels that the settings configure. */
export function alertChannels(
  { webhook, slackUrl, teamsUrl, pagerduty, email }: AlertSettings,
  deps: ChannelDeps,
): Channel[] {
  return [
    ...(webhook ? [signedWebhook(webhook, deps)] : []),
    ...(slackUrl ? [slackChannel(slackUrl, deps)] : []),
    ...(teamsUrl ? [teamsChannel(teamsUrl, deps)] : []),
    ...(pagerduty ? [pagerdutyChannel(pagerduty, deps)] : []),
    ...(email ? [emailChannel(email, deps)] : []),
  ];
}

/** Returns a sender on these channels. Without any it sends nothing. */
export function alertSender(channels: Channel[], deps: Deps): AlertSender {
  const stop = new AbortController();
  const queues = channels.map((channel) => alertQueue(channel, deps, stop.signal));
  return {
    send: (alert) => {
      if (!stop.signal.aborted) for (const queue of queues) queue.add(alert);
    },
    close: async () => {
      stop.abort();
      await Promise.all(queues.map((queue) => queue.sent()));
    },
  };
}

/** The alerts that wait for one channel. */
function alertQueue(channel: Channel, deps: Deps, signal: AbortSignal) {
  const waiting: Alert[] = [];
  let sending = Promise.resolve();
  let isSending = false;
  const sendAll = async () => {
    isSending = true;
    for (let alert = waiting.shift(); alert && !signal.aborted; alert = waiting.shift())
      await deliver(deps, channel, { alert, signal });
    isSending = false;
  };
  return {
    add: (alert: Alert) => {
      waiting.push(alert);
      if (waiting.length > QUEUE_LIMIT) waiting.shift();
      if (!isSending) sending = sendAll();
    },
    /** Resolves when nothing is sent any more. */
    sent: () => sending,
  };
}

/** Makes attempts until the receiver accepts the alert. A receiver that asks for a longer wait gets it. */
async function deliver(
  { clock, log }: Deps,
  channel: Channel,
  { alert, signal }: { alert: Alert; signal: AbortSignal },
): Promise<void> {
  const message = { id: newAlertId(), alert };
  for (const waitMs of [...RETRY_DELAYS_MS, undefined]) {
    const delivery = await channel.deliver(message, signal);
    if ('answer' in delivery || signal.aborted) return;
    const { failure, retryAfterMs } = delivery;
    const fields = { type: alert.type, channel: channel.name, failure };
    if (waitMs === undefined) {
      log.error(fields, 'an alert could not be delivered; giving up');
      return;
    }
    log.warn(fields, 'an alert could not be delivered; retrying');
    await clock.wait(Math.max(waitMs, retryAfterMs), signal);
    if (signal.aborted) return;
  }
}

/** Returns the id of a new message. */
export function newAlertId(): string {
  return `msg_${randomUUID()}`;
}
