import type { z } from 'zod';
import { isSafeUrl } from '../http/proxies.ts';
import { requireVariable, type SettingsContext, secretWeakness } from './faults.ts';
import type { settingsSchema } from './schema.ts';

/** The channels of alerts, with the secrets of the environment. */
export interface AlertSettings {
  /** An outage is an alert when it has lasted this long, in milliseconds. */
  afterMs: number;
  webhook: { url: string; secret: string } | undefined;
  slackUrl: string | undefined;
  teamsUrl: string | undefined;
  pagerduty: { url: string; key: string } | undefined;
  email: { smtpUrl: string; from: string; to: string[]; weeklyTo: string[] } | undefined;
}

/** Reads the secrets of the channels. Faults never contain a secret, not even an invalid one. */
export function alertSettings(
  { after, webhookUrl, secretEnv, slack, teams, pagerduty, email }: z.infer<typeof settingsSchema>['alerts'],
  context: SettingsContext,
): AlertSettings {
  const secret = webhookUrl && webhookSecret(secretEnv, context);
  const key = pagerduty && readSecret('pagerduty.keyEnv', pagerduty.keyEnv, { ...integrationKey, context });
  const smtpUrl = email && readSecret('email.smtpUrlEnv', email.smtpUrlEnv, { ...mailServer, context });
  return {
    afterMs: after * 60_000,
    webhook: webhookUrl && secret ? { url: webhookUrl, secret } : undefined,
    slackUrl: slack && readSecret('slack.urlEnv', slack.urlEnv, { ...slackWebhook, context }),
    teamsUrl: teams && readSecret('teams.urlEnv', teams.urlEnv, { ...teamsWebhook, context }),
    pagerduty: pagerduty && key ? { url: pagerduty.url, key } : undefined,
    email:
      email && smtpUrl ? { smtpUrl, from: email.from, to: email.to, weeklyTo: email.weeklyTo } : undefined,
  };
}

const signingSecret = /^whsec_(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function webhookSecret(variable: string, context: SettingsContext): string | undefined {
  const remedy = 'Set it to "whsec_" and what "openssl rand -base64 32" prints.';
  const secret = requireVariable(context, 'alerts.secretEnv', { variable, remedy });
  if (secret === undefined) return undefined;
  const weakness = secretWeakness(secret.replace(/^whsec_/, ''));
  const problem = signingSecret.test(secret)
    ? weakness && `${weakness}, so it could be guessed`
    : 'is no secret of a webhook';
  if (problem !== undefined) context.faults.push({ file: 'environment', path: variable, problem, remedy });
  return secret;
}

/** A kind of secret: a URL, or the key of a service. */
interface SecretKind {
  isValid(secret: string): boolean;
  problem: string;
  remedy: string;
}

const slackWebhook: SecretKind = {
  isValid: isWebhookUrl,
  problem: 'is no URL of an incoming webhook',
  remedy: 'Set it to the URL that Slack shows, e.g. https://hooks.slack.com/services/….',
};

const teamsWebhook: SecretKind = {
  isValid: isWebhookUrl,
  problem: 'is no URL of a workflow',
  remedy: 'Set it to the https URL that Teams shows after the workflow is made.',
};

const integrationKey: SecretKind = {
  isValid: (key) => /^[A-Za-z0-9]{32}$/.test(key),
  problem: 'is no integration key of PagerDuty',
  remedy: 'Set it to the 32 letters and digits that PagerDuty shows for an integration of Events API V2.',
};

const mailServer: SecretKind = {
  isValid: isMailServerUrl,
  problem: 'is no URL of a mail server',
  remedy:
    'Set it to e.g. smtps://user:password@mail.example.com or smtp://mail.example.com:587, with @, : and / in the password as %40, %3A and %2F.',
};

function readSecret(
  key: string,
  variable: string,
  { isValid, problem, remedy, context }: SecretKind & { context: SettingsContext },
): string | undefined {
  const secret = requireVariable(context, `alerts.${key}`, { variable, remedy });
  if (secret !== undefined && !isValid(secret))
    context.faults.push({ file: 'environment', path: variable, problem, remedy });
  return secret;
}

function isWebhookUrl(url: string): boolean {
  return isSafeUrl(url) && new URL(url).username + new URL(url).password === '';
}

/** Parameters are refused, because those of nodemailer could write the traffic to the log. */
function isMailServerUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, pathname, search, hash } = new URL(url);
  return /^smtps?:$/.test(protocol) && hostname !== '' && /^\/?$/.test(pathname) && search + hash === '';
}
