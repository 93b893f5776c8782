import { createHash } from 'node:crypto';
import type { AlertSettings } from '../config/alert-settings.ts';
import { failureText, retryAfterMs, signatureHeaders } from '../travel/webhooks/attempt.ts';
import {
  type Alert,
  type Channel,
  type ChannelDeps,
  type Delivery,
  LINK_TEXT,
  pageAddress,
  severities,
} from './channel.ts';

const TIMEOUT_MS = 10_000;

/** Returns the channel of signed webhooks (Standard Webhooks). */
export function signedWebhook({ url, secret }: { url: string; secret: string }, deps: ChannelDeps): Channel {
  return {
    name: 'webhook',
    deliver: ({ id, alert: { type, at, data } }, signal) => {
      const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
      const headers = signatureHeaders({ id, at: deps.now(), body }, [secret]);
      return post(deps, url, { headers, body, signal });
    },
  };
}

/** Returns the channel of an incoming webhook of Slack. */
export function slackChannel(url: string, deps: ChannelDeps): Channel {
  return {
    name: 'slack',
    deliver: ({ alert }, signal) =>
      post(deps, url, { body: JSON.stringify({ text: slackText(alert, pageAddress(deps, alert)) }), signal }),
  };
}

function slackText({ severity, text }: Alert, address: string | undefined): string {
  const { emoji, title } = severities[severity];
  const link = address === undefined ? [] : [`<${escapeSlack(address)}|${LINK_TEXT}>`];
  return [`${emoji} *${title}*: ${escapeSlack(text)}`, ...link].join('\n');
}

/** Slack reads these three characters as the marks of links, mentions and entities, wherever they stand. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Returns the channel of a workflow of Microsoft Teams that is triggered by a webhook request. */
export function teamsChannel(url: string, deps: ChannelDeps): Channel {
  return {
    name: 'teams',
    deliver: ({ alert }, signal) =>
      post(deps, url, { body: JSON.stringify(teamsMessage(alert, pageAddress(deps, alert))), signal }),
  };
}

function teamsMessage({ severity, text }: Alert, address: string | undefined): object {
  const { title, color } = severities[severity];
  const content = {
    type: 'AdaptiveCard',
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    version: '1.4',
    body: [
      { type: 'TextBlock', text: `Jetbridge: ${title}`, weight: 'Bolder', color },
      // A TextBlock would read marks of Markdown in the text; a TextRun shows it as it is.
      { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text }] },
    ],
    ...(address !== undefined && { actions: [{ type: 'Action.OpenUrl', title: LINK_TEXT, url: address }] }),
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] };
}

/** The longest summary that PagerDuty takes, in characters. */
const MAX_SUMMARY = 1_024;

/** Returns the channel of a service of PagerDuty (Events API v2). An alert opens an incident, and the alert of the end resolves it. */
export function pagerdutyChannel(
  { url, key }: NonNullable<AlertSettings['pagerduty']>,
  deps: ChannelDeps,
): Channel {
  return {
    name: 'pagerduty',
    deliver: ({ alert }, signal) =>
      post(deps, url, {
        body: JSON.stringify({ routing_key: key, ...pagerdutyEvent(alert, deps) }),
        signal,
      }),
  };
}

function pagerdutyEvent({ incident, severity, text, type, at, data, ...alert }: Alert, deps: ChannelDeps) {
  const source = deps.publicUrl ?? 'jetbridge';
  // Servers with several databases may send to one service of PagerDuty.
  const dedupKey = incident && createHash('sha256').update(`${source} ${incident.key}`).digest('hex');
  const address = pageAddress(deps, alert);
  return {
    event_action: incident?.isOver ? 'resolve' : 'trigger',
    dedup_key: dedupKey,
    client: 'Jetbridge',
    ...(address !== undefined && { client_url: address, links: [{ href: address, text: LINK_TEXT }] }),
    payload: {
      summary: text.slice(0, MAX_SUMMARY),
      ...{ source, severity: severities[severity].pagerduty, class: type },
      ...{ timestamp: new Date(at).toISOString(), custom_details: data },
    },
  };
}

interface PostRequest {
  headers?: Record<string, string>;
  body: string;
  signal: AbortSignal;
}

/** Posts JSON. Redirects are not followed. */
async function post(
  { now }: ChannelDeps,
  url: string,
  { headers, body, signal }: PostRequest,
): Promise<Delivery> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Jetbridge', ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const word = await readWord(response);
    // A secret of the URL that the receiver repeats must not get into the log.
    const answer = `status ${response.status}${word === '' || url.split(/[/?&=]/).includes(word) ? '' : ` (${word})`}`;
    const retryAfter = response.headers.get('retry-after') ?? undefined;
    return response.ok ? { answer } : { failure: answer, retryAfterMs: retryAfterMs(retryAfter, now()) };
  } catch (error) {
    return { failure: fetchFailureText(error), retryAfterMs: 0 };
  }
}

/** The word that is the body, as Slack answers (`ok`, `no_service`), or the code of an error in JSON, as Workflows answers; else ''. */
async function readWord({ body }: Response): Promise<string> {
  try {
    const reader = body?.getReader();
    const chunk = await reader?.read();
    await reader?.cancel();
    const text = Buffer.from(chunk?.value ?? []).toString('utf8');
    const [, word, code] = /^\s*([\w.-]{1,60})\s*$|"code"\s*:\s*"([\w.-]{1,60})"/.exec(text) ?? [];
    return word ?? code ?? '';
  } catch {
    // The status has been received, and decides alone.
    return '';
  }
}

/** Describes a failure of `fetch`, whose cause holds the error of the connection. */
function fetchFailureText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'the request failed';
  if ('name' in error && error.name === 'TimeoutError')
    return `no answer within ${TIMEOUT_MS / 1000} seconds`;
  return failureText('cause' in error ? error.cause : error);
}
