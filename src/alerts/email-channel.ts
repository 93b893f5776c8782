import type { AlertSettings } from '../config/alert-settings.ts';
import { isSafeUrl } from '../http/proxies.ts';
import { failureText } from '../travel/webhooks/attempt.ts';
import {
  type Alert,
  type Channel,
  type ChannelDeps,
  type Delivery,
  LINK_TEXT,
  type Message,
  pageAddress,
  severities,
} from './channel.ts';

/** The limit of each step: the connection, the greeting, each wait for an answer. */
const STEP_MS = 10_000;
const TIMEOUT_MS = 30_000;
/** A subject is cut at this length, in characters. */
const MAX_SUBJECT = 120;

type MailSettings = Pick<NonNullable<AlertSettings['email']>, 'smtpUrl' | 'from' | 'to'>;

/** A mail. All attempts to send it have the same id. */
export interface Mail {
  id: string;
  subject: string;
  text: string;
}

/** Returns the channel of mails, which one mail server takes. */
export function emailChannel(settings: MailSettings, deps: ChannelDeps): Channel {
  return {
    name: 'email',
    deliver: (message, signal) => deliverMail(settings, toMail(message, deps), signal),
  };
}

/** Makes one attempt to send a mail. It never fails. */
export async function deliverMail(
  settings: MailSettings,
  mail: Mail,
  signal: AbortSignal,
): Promise<Delivery> {
  try {
    const { response, rejected } = await sendMail(settings, toEnvelope(settings, mail), signal);
    const refused = rejected.length > 0 ? `, and ${rejected.length} of the recipients are refused` : '';
    return { answer: `${response.slice(0, MAX_SUBJECT)}${refused}` };
  } catch (error) {
    return { failure: mailFailureText(error), retryAfterMs: 0 };
  }
}

function toMail({ id, alert }: Message, deps: ChannelDeps): Mail {
  const address = pageAddress(deps, alert);
  const link = address === undefined ? [] : [`${LINK_TEXT}: ${address}`];
  return {
    id,
    subject: subjectOf(alert),
    text: [alert.text, ...link, `${alert.type}, ${new Date(alert.at).toISOString()}`].join('\n\n'),
  };
}

function toEnvelope({ from, to }: { from: string; to: string[] }, { id, subject, text }: Mail) {
  return {
    from: { name: 'Jetbridge', address: from },
    to: to.map((recipient) => ({ name: '', address: recipient })),
    ...{ subject, text },
    messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    // Mailboxes send no automatic reply to it (RFC 3834 §5).
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

function subjectOf({ severity, text }: Alert): string {
  const subject = `Jetbridge: ${severities[severity].title}: ${text}`;
  return subject.length > MAX_SUBJECT ? `${subject.slice(0, MAX_SUBJECT - 1)}…` : subject;
}

/** Sends by TLS with smtps://, and else by STARTTLS if the server offers it. */
async function sendMail(
  { smtpUrl }: { smtpUrl: string },
  mail: ReturnType<typeof toEnvelope>,
  signal: AbortSignal,
): Promise<{ response: string; rejected: unknown[] }> {
  // Loaded here because most commands and services send no mail.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: smtpUrl,
    // An attacker who can change the traffic could hide that the server offers STARTTLS, and read the password.
    requireTLS: new URL(smtpUrl).password !== '' && !isSafeUrl(smtpUrl.replace(/^smtp/, 'http')),
    ...{ connectionTimeout: STEP_MS, greetingTimeout: STEP_MS, socketTimeout: STEP_MS, dnsTimeout: STEP_MS },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  return transport.sendMail({ ...mail, signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
}

/** The reasons by the codes of nodemailer for an answer that refuses. */
const refusals = new Map([
  ['EAUTH', 'the mail server refuses the user or the password'],
  ['EENVELOPE', 'the mail server refuses the sender or every recipient'],
  ['ETLS', 'the mail server offers no TLS'],
]);

/** Leaves the text of the answer out, because it may have addresses. */
function mailFailureText(error: unknown): string {
  const { code = '', originalCode = code, responseCode } = Object(error);
  if (responseCode) return `${refusals.get(code) ?? 'the mail server refuses the message'} (${responseCode})`;
  if (code === 'ETIMEDOUT' || code === 'EABORT') return 'the mail server does not answer in time';
  return failureText({ code: originalCode });
}
