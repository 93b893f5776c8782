import { z } from 'zod';
import { isSafeUrl } from '../http/proxies.ts';
import { faultText } from '../translator/mapping/mapping-faults.ts';
import { mappingSchema } from '../translator/mapping/mapping-file.ts';
import { connectionId, connectionSchema } from './connection-schema.ts';
import {
  allowedAddresses,
  flag,
  numberInRange,
  providerUrl,
  share,
  variable,
  wholeNumber,
} from './schema-parts.ts';

const adminAddress = z
  .string()
  .regex(
    /^[^\s@]{1,64}@[^\s@]{1,255}$/,
    faultText('is no address', 'Give the email of an admin of the travel service, e.g. "ada@corp.example".'),
  );

const openid = z
  .strictObject({
    issuer: providerUrl.describe('The issuer of the tokens, exactly as in their claim "iss".'),
    audience: z.string().min(1).describe('The audience that the claim "aud" of the tokens must contain.'),
    jwksUri: providerUrl
      .optional()
      .describe(
        'The URL of the public keys of the provider. Default: the jwks_uri of <issuer>/.well-known/openid-configuration.',
      ),
    verifiedClaim: z
      .string()
      .min(1)
      .optional()
      .describe(
        'A claim that states, like email_verified, that the address is verified; for Entra ID "xms_edov".',
      ),
    subjects: z
      .record(z.string().min(1), adminAddress)
      .optional()
      .describe(
        'The email addresses of admins by the claim "sub" of their tokens. It takes precedence over the claim "email".',
      ),
  })
  .describe(
    'An OpenID provider whose access tokens /api accepts for the admin with the verified email address. See docs/operations/tokens.md.',
  );

const webhooks = z
  .strictObject({
    allowPrivate: flag(false).describe(
      'With true, webhooks may have URLs that resolve to private addresses, such as this machine and its network.',
    ),
  })
  .describe('Limits of the webhooks that receive events.');

const oauthClients = z
  .strictObject({
    allowPrivate: flag(false).describe(
      'With true, the public keys of OAuth clients may have URLs that resolve to private addresses, such as this machine and its network.',
    ),
  })
  .describe('Limits of the OAuth clients that identity providers use.');

const travelService = z.strictObject({
  openid: openid.optional(),
  webhooks: webhooks.prefault({}),
});

const sharedIssuer = /^https:\/\/login\.microsoftonline\.[a-z]+\/(common|organizations|consumers)\b/;

const openidRule = z.strictObject({
  claim: z.string().min(1).describe('A claim of the ID token, e.g. "groups" or "roles".'),
  values: z
    .array(z.string().min(1))
    .min(1, faultText('has no value', 'Name at least one, e.g. ["travel-admins"].'))
    .describe('A person who has one of these values in the claim has the role.'),
});

const adminOpenid = z
  .strictObject({
    label: z
      .string()
      .min(1)
      .max(40)
      .describe('The name of the provider on the button, e.g. "Okta" for "Sign in with Okta".'),
    issuer: providerUrl
      .refine((url) => !sharedIssuer.test(url), {
        error: faultText(
          'is the issuer of all tenants, whose admins could give themselves any role',
          'Give that of one tenant, "https://login.microsoftonline.com/<tenant id>/v2.0".',
        ),
      })
      .describe('The issuer, exactly as in its document <issuer>/.well-known/openid-configuration.'),
    clientId: z.string().min(1).describe('The id of the client that is registered there.'),
    clientSecretEnv: variable('ADMIN_OPENID_CLIENT_SECRET').describe(
      'The environment variable with the secret of the client.',
    ),
    scope: z
      .string()
      .regex(/(^| )openid( |$)/, faultText('lacks "openid"', 'Write e.g. "openid profile email groups".'))
      .default('openid profile email')
      .describe('The scopes that the sign-in requests.'),
    nameClaim: z
      .string()
      .min(1)
      .default('preferred_username')
      .describe('The claim with the name that the page and the audit log show.'),
    admins: openidRule
      .optional()
      .describe(
        'The people with the role admin, e.g. {"claim": "groups", "values": ["travel-admins"]}. Default: none.',
      ),
    viewers: openidRule.optional().describe('The people with the role viewer, likewise. Default: none.'),
    timeoutMs: wholeNumber(100, 30_000, 5_000).describe(
      'The time limit of one request to the provider, in milliseconds.',
    ),
  })
  .refine(({ admins, viewers }) => admins !== undefined || viewers !== undefined, {
    error: faultText(
      'lets nobody in',
      'Add e.g. "admins": {"claim": "groups", "values": ["travel-admins"]}.',
    ),
  })
  .describe(
    'An OpenID provider with which people sign in to the admin page, beside the built-in admin with a password. At least one of "admins" and "viewers" is required. See docs/operations/admin-access.md.',
  );

const adminPage = z
  .strictObject({
    passwordSignIn: flag(true).describe(
      'With false, people sign in to the admin page through adminPage.openid alone, which is then required: the provider asks for its second factor. Sessions that began with a password end. See docs/operations/admin-access.md for the way back in while the provider is down.',
    ),
    openid: adminOpenid.optional(),
    allowFrom: allowedAddresses
      .optional()
      .describe(
        'The addresses from which the admin page and its API accept requests: addresses, ranges such as "203.0.113.0/24", "loopback" or "private". Others get 403. See docs/operations/limits.md. Default: all.',
      ),
  })
  .refine(({ passwordSignIn, openid }) => passwordSignIn || openid !== undefined, {
    path: ['passwordSignIn'],
    error: faultText(
      'is false, and adminPage.openid is not set, so nobody could sign in',
      'Add adminPage.openid, or remove this.',
    ),
  });

const domainFault = {
  error: faultText('is no domain', 'Write one that receives no mail, e.g. "jetbridge.invalid", or null.'),
};

const emailSwap = z.strictObject({
  parkingDomain: z
    .string(domainFault)
    .regex(/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/, domainFault)
    .nullable()
    .default('jetbridge.invalid')
    .describe(
      'The domain of the address that a traveler gets when somebody else needs its own: that of a leaver, and of a person who waits for another address, if the userName is not free. With null no traveler gives its address up in this way.',
    ),
});

const importSettings = z.strictObject({
  minimumShare: share(0.5).describe(
    'The share of at least 20 known travelers that an import must find before it treats the missing ones as deleted.',
  ),
  maximum: numberInRange(100, 10_000_000, 200_000)
    .optional()
    .describe(
      'The number of travelers at which an import ends, with an alarm: a travel API may list travelers for ever. Those beyond are not touched, and none is treated as deleted. Default: twice the known people, at least 100000.',
    ),
});

const retention = z.strictObject({
  tombstones: wholeNumber(1, 36_500, 400).describe(
    'The number of days for which a deleted user is kept for a return after the traveler is archived or deleted.',
  ),
});

const requestLog = z.strictObject({
  keepDays: wholeNumber(0, 365, 14).describe(
    'The number of days for which SCIM requests, travel calls, token requests and requests to the embedded travel service are kept, with the bodies of writes and errors, without secrets. With 0 none are recorded, and those that were are deleted.',
  ),
  keepEntries: wholeNumber(1_000, 100_000_000, 2_000_000).describe(
    'The number of requests beyond which the oldest are deleted earlier. A read takes about 700 bytes in the database, a write with its calls about 10 KB.',
  ),
});

const receiverFault = {
  error: faultText('is no URL without a password', 'Give e.g. "https://alerts.example.com/jetbridge".'),
};

const receiverUrl = z
  .url({ protocol: /^https?$/, ...receiverFault })
  .refine((url) => !URL.canParse(url) || new URL(url).username + new URL(url).password === '', receiverFault);

const mailAddress = z
  .string()
  .regex(
    /^[^\s@<>()[\],;:"]{1,64}@[^\s@<>()[\],;:"]{1,255}$/,
    faultText('is no address of mail', 'Write one without a name, e.g. "on-call@corp.example".'),
  );

const slackAlerts = z
  .strictObject({
    urlEnv: variable('ALERTS_SLACK_URL').describe(
      'The environment variable with the URL of the incoming webhook, which is a secret.',
    ),
  })
  .describe('A channel of Slack that gets alerts. See docs/operations/alerts.md.');

const teamsAlerts = z
  .strictObject({
    urlEnv: variable('ALERTS_TEAMS_URL').describe(
      'The environment variable with the URL of the workflow, which is a secret.',
    ),
  })
  .describe('A channel or chat of Microsoft Teams that gets alerts. See docs/operations/alerts.md.');

const pagerdutyAlerts = z
  .strictObject({
    keyEnv: variable('ALERTS_PAGERDUTY_KEY').describe(
      'The environment variable with the integration key, which is a secret.',
    ),
    url: receiverUrl
      .refine((url) => !URL.canParse(url) || isSafeUrl(url), {
        error: faultText('would send the key without encryption', 'Write a URL with https.'),
      })
      .default('https://events.pagerduty.com/v2/enqueue')
      .describe(
        'The address of the Events API v2. An account in the EU has https://events.eu.pagerduty.com/v2/enqueue.',
      ),
  })
  .describe('A service of PagerDuty that gets alerts as incidents. See docs/operations/alerts.md.');

const emailAlerts = z
  .strictObject({
    smtpUrlEnv: variable('ALERTS_SMTP_URL').describe(
      'The environment variable with the URL of the mail server, with user and password: smtps:// for TLS from the start, smtp:// for STARTTLS.',
    ),
    from: mailAddress.describe('The address of the sender.'),
    to: z
      .array(mailAddress)
      .min(1, faultText('has no address', 'Write at least one, e.g. ["on-call@corp.example"].'))
      .describe('The addresses of the recipients.'),
    weeklyTo: z
      .array(mailAddress)
      .default([])
      .describe(
        'The addresses that get a mail about each week on Monday: who joined and left, what is held, findings, and for how long the travel API could be used.',
      ),
  })
  .describe('People who get alerts by mail. See docs/operations/alerts.md.');

const alerts = z.strictObject({
  after: wholeNumber(1, 1_440, 5).describe(
    'An outage of the travel API is an alert when it has lasted this long, in minutes.',
  ),
  webhookUrl: receiverUrl
    .optional()
    .describe('The URL that receives alerts, signed as Standard Webhooks. Default: none.'),
  secretEnv: variable('ALERTS_WEBHOOK_SECRET').describe(
    'The environment variable with the secret that signs alerts, "whsec_" and base64.',
  ),
  slack: slackAlerts.optional(),
  teams: teamsAlerts.optional(),
  pagerduty: pagerdutyAlerts.optional(),
  email: emailAlerts.optional(),
});

/** The settings file. */
export const settingsSchema = z.strictObject({
  $schema: z.string().optional(),
  writeBudgetMs: wholeNumber(0, 10_000, 800).describe(
    'The longest time that a SCIM write waits for the travel API before it is answered, in milliseconds.',
  ),
  maxConnections: wholeNumber(16, 100_000, 1_000).describe(
    'The largest number of open client connections, including those of proxies and of the bridge itself.',
  ),
  connections: z
    .record(connectionId, connectionSchema)
    .refine((all) => Object.keys(all).length > 0, {
      error: faultText('has no connection', 'Leave it out, or name one, e.g. "default": {}.'),
    })
    .default({ default: connectionSchema.parse({}) })
    .describe(
      'The connections, one for each IdP that provisions into a travel account, under a name of your choice. Default: one, "default".',
    ),
  emailSwap: emailSwap
    .prefault({})
    .describe('Swaps of email addresses between people. See docs/operations/leaving-and-returning.md.'),
  import: importSettings
    .prefault({})
    .describe('The import of existing travelers. See docs/operations/changes-in-the-travel-service.md.'),
  retention: retention
    .prefault({})
    .describe('The retention of deleted users. See docs/operations/stored-data.md.'),
  requestLog: requestLog
    .prefault({})
    .describe('The log of requests and travel calls. See docs/operations/requests.md.'),
  alerts: alerts
    .prefault({})
    .describe('Alerts about conditions that need an operator. See docs/operations/alerts.md.'),
  adminPage: adminPage.prefault({}).describe('The admin page.'),
  oauthClients: oauthClients.prefault({}),
  travelService: travelService.prefault({}).describe('The embedded travel service.'),
});

/** Returns the JSON Schemas for editors, by file. They are derived from the schemas that check the settings. */
export function jsonSchemas(): Record<string, string> {
  return {
    'config/jetbridge.schema.json': jsonSchemaText(settingsSchema),
    'config/mapping.schema.json': jsonSchemaText(mappingSchema),
  };
}

function jsonSchemaText(schema: z.ZodType): string {
  return `${JSON.stringify(z.toJSONSchema(schema, { io: 'input' }), null, 2)}\n`;
}
