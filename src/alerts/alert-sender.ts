import { randomUUID } from 'node:crypto';
import type { AlertSettings } from '../config/settings.ts';
import type { Log, Runtime } from '../provisioning/runtime-ports.ts';
import { failureText, signatureHeaders } from '../travel/webhooks/attempt.ts';
import type { Alert } from './alert.ts';

const TIMEOUT_MS = 10_000;
/** Waits between the attempts to deliver one alert, in milliseconds; after the last attempt the alert is dropped. */
const RETRY_DELAYS_MS = [1_000, 5_000, 30_000, 120_000];
/** The maximum number of alerts that wait while the receiver does not answer. Then the oldest is dropped. */
const QUEUE_LIMIT = 100;

/** Sends alerts in the background, one after the other, until it is closed. */
export interface AlertSender {
  /** Returns at once and never fails. */
  send(alert: Alert): void;
  /** Aborts the running delivery and drops the waiting alerts. */
  close(): Promise<void>;
}

interface Deps {
  clock: Pick<Runtime, 'now' | 'wait'>;
  log: Pick<Log, 'warn' | 'error'>;
}

/** Returns a sender of signed alerts (Standard Webhooks). Without settings it sends nothing. */
export function alertSender(settings: AlertSettings | undefined, deps: Deps): AlertSender {
  const stop = new AbortController();
  const waiting: Alert[] = [];
  let sending = Promise.resolve();
  let isSending = false;
  const sendAll = async (to: AlertSettings) => {
    isSending = true;
    for (let alert = waiting.shift(); alert && !stop.signal.aborted; alert = waiting.shift())
      await deliver(deps, to, { alert, signal: stop.signal });
    isSending = false;
  };
  return {
    send: (alert) => {
      if (!settings || stop.signal.aborted) return;
      waiting.push(alert);
      if (waiting.length > QUEUE_LIMIT) waiting.shift();
      if (!isSending) sending = sendAll(settings);
    },
    close: async () => {
      stop.abort();
      await sending;
    },
  };
}

interface Delivery {
  alert: Alert;
  signal: AbortSignal;
}

/** All attempts carry the same id, so that a receiver recognises an alert that it has received before. */
async function deliver(
  { clock, log }: Deps,
  settings: AlertSettings,
  { alert, signal }: Delivery,
): Promise<void> {
  const id = `msg_${randomUUID()}`;
  const body = alertBody(alert);
  for (const waitMs of [...RETRY_DELAYS_MS, undefined]) {
    const headers = signatureHeaders({ id, at: clock.now(), body }, [settings.secret]);
    const failure = await post(settings.webhookUrl, { headers, body, signal });
    if (failure === undefined || signal.aborted) return;
    if (waitMs === undefined) {
      log.error({ type: alert.type, failure }, 'an alert could not be delivered; giving up');
      return;
    }
    log.warn({ type: alert.type, failure }, 'an alert could not be delivered; retrying');
    await clock.wait(waitMs, signal);
    if (signal.aborted) return;
  }
}

function alertBody({ type, at, data }: Alert): string {
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
}

/** Returns the reason of a failure, or undefined if the receiver accepted the alert. The reason omits the URL, which may be a secret. */
async function post(
  url: string,
  { headers, body, signal }: { headers: Record<string, string>; body: string; signal: AbortSignal },
): Promise<string | undefined> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Jetbridge', ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await answer.body?.cancel();
    return answer.ok ? undefined : `status ${answer.status}`;
  } catch (error) {
    return fetchFailureText(error);
  }
}

/** Describes a failure of `fetch`, whose cause holds the error of the connection. */
function fetchFailureText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'the request failed';
  if ('name' in error && error.name === 'TimeoutError')
    return `no answer within ${TIMEOUT_MS / 1000} seconds`;
  return failureText('cause' in error ? error.cause : error);
}
