import { z } from 'zod';
import { isSafeUrl } from '../http/proxies.ts';
import { connectionModeNames, policyChoices } from '../provisioning/policies.ts';
import { faultText } from '../translator/mapping/mapping-faults.ts';
import { mappingSchema } from '../translator/mapping/mapping-file.ts';

/** Makes the schema of a whole number in a range. The message for any other value names the range and an example. */
function wholeNumber(min: number, max: number, example: number) {
  const error = faultText(`is no whole number from ${min} to ${max}`, `Write one, e.g. ${example}.`);
  return z.int({ error }).min(min, { error }).max(max, { error });
}

const path = z
  .string()
  .startsWith('/', faultText('is no path', 'Begin with a slash, e.g. "/api/cost-centers".'));

const paths = z
  .strictObject({
    whoami: path,
    users: path,
    events: path,
    billingProfiles: path,
    costCenters: path,
    customFields: path,
    customFieldOptions: path.includes('{id}', {
      error: faultText('has no place for the custom field', 'Write e.g. "/api/custom-fields/{id}/options".'),
    }),
    travelPolicies: path,
    scimUserMappings: path,
  })
  .partial();

const variableName = z
  .string()
  .regex(
    /^[A-Z][A-Z0-9_]*$/,
    faultText(
      'is no name of an environment variable',
      'Write capitals, digits and _, e.g. "ACME_SCIM_TOKEN".',
    ),
  );

const travelUrlFault = {
  error: faultText('is no URL', 'Give "embedded", or e.g. "https://travel.example.com".'),
};
/** `embedded`, or the URL of a travel API. */
export const travelUrl = z.union(
  [z.literal('embedded'), z.url({ protocol: /^https?$/, ...travelUrlFault })],
  travelUrlFault,
);

const eventFeed = z.strictObject({
  everyMs: wholeNumber(100, 3_600_000, 2_000)
    .default(2_000)
    .describe('The interval of the calls that read the feed, in milliseconds.'),
});

/** The travel API of a connection. */
export const travelApiSchema = z.strictObject({
  url: travelUrl
    .optional()
    .describe(
      'The base URL of the travel API of this connection, without /api; "embedded" is the embedded travel service. Plain http:// needs TRAVEL_API_INSECURE unless it is loopback. Default: TRAVEL_API_URL.',
    ),
  keyEnv: variableName
    .default('TRAVEL_API_KEY')
    .describe('The environment variable with the credential of the travel API.'),
  account: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The name of the travel account. Connections with the same one share its travelers; it is needed where two connections use different credentials of one account. Default: a hash of URL and keyEnv.',
    ),
  profile: z
    .enum(['jetbridge', 'generic-rest'], {
      error: faultText('is no travel API that is known', 'Write "jetbridge" or "generic-rest".'),
    })
    .default('jetbridge')
    .describe(
      'The kind of travel API: "jetbridge" is that of the embedded service, "generic-rest" one with other habits of REST APIs. See docs/travel-apis.md. For the embedded service it has no effect.',
    ),
  paths: paths
    .default({})
    .describe(
      'Paths of the travel API that differ from those of its profile, e.g. {"costCenters": "/api/cost-centers"}. The keys are whoami, users, billingProfiles, costCenters, customFields and travelPolicies; with the profile "jetbridge" also events, customFieldOptions (with {id}) and scimUserMappings.',
    ),
  feed: z
    .union([z.literal(false), eventFeed], {
      error: faultText(
        'is no way to follow the feed',
        'Write false, or e.g. {"everyMs": 2000}, from 100 to 3600000.',
      ),
    })
    .prefault({})
    .describe(
      'How the event feed of the travel API is polled, if its profile has one. With false there is no feed, and the hourly import finds changes that are made in the travel service.',
    ),
  timeoutMs: wholeNumber(100, 60_000, 10_000)
    .default(10_000)
    .describe('The time limit of one call, in milliseconds. It includes the wait for its turn.'),
  concurrency: wholeNumber(1, 64, 8).default(8).describe('The largest number of concurrent calls.'),
  perSecond: wholeNumber(1, 1_000, 100).default(100).describe('The largest number of calls in a second.'),
  lateMs: wholeNumber(0, 600_000, 30_000)
    .default(30_000)
    .describe(
      'The longest time after which the travel API may still execute a call that it has not answered, in milliseconds. The traveler is read once more after it.',
    ),
  errors: z
    .enum(['coded', 'bare'])
    .default('coded')
    .describe(
      'With the profile "jetbridge", the error responses of the travel API: "coded" if they have a member "code", so that a 403 or 404 without one may come from a gateway and is checked before it is believed; "bare" if the travel API never sends codes. See docs/operations/a-gateway-answers.md.',
    ),
  patchMediaType: z
    .enum(['application/json', 'application/merge-patch+json'])
    .default('application/json')
    .describe(
      'With the profile "jetbridge", the media type of a PATCH: "application/json" or "application/merge-patch+json". After a 415 the other one is used.',
    ),
});

const flag = z.boolean({ error: faultText('is neither true nor false', 'Write true or false.') });

const shareFault = { error: faultText('is no part of a whole', 'Write a number from 0 to 1, e.g. 0.05.') };
const share = z.number(shareFault).min(0, shareFault).max(1, shareFault);

const safetyValve = z.strictObject({
  share: share
    .default(0.05)
    .describe('The share of the active people who may leave within the window, from 0 to 1.'),
  minimum: wholeNumber(0, 1_000_000, 20)
    .default(20)
    .describe(
      'The number of people who may leave within the window in any case. The larger of this and the share is the limit.',
    ),
  windowMinutes: wholeNumber(1, 10_080, 60)
    .default(60)
    .describe('The period in which people who leave are counted, in minutes.'),
});

/** Makes the schema of one of several texts. The first is the default. */
function choice<const Choices extends readonly [string, ...string[]]>(choices: Choices) {
  return z.enum(choices).default(choices[0]);
}

/** Decisions about existing, leaving and returning people. */
export const policiesSchema = z.strictObject({
  onExistingUser: choice(policyChoices.onExistingUser).describe(
    'Effect if an existing traveler has the email address of a new user: "link" links the user to that traveler, "refuse" does not.',
  ),
  existingPeople: choice(policyChoices.existingPeople).describe(
    'Effect on people of the travel service whom no IdP has written: "list" shows them in lists, which the import of Okta and the discovery of Entra ID need; with "match" only a filter that names a person finds one, for clients that delete everybody whom they do not know. See docs/operations/existing-people.md.',
  ),
  unclaimedDelete: choice(policyChoices.unclaimedDelete).describe(
    'Effect of a SCIM DELETE of a person whom no IdP has written, and whom this connection has not found by a filter: "hold" leaves the traveler alone until an admin decides, "archive" archives it as any other. See docs/operations/existing-people.md.',
  ),
  deprovision: choice(policyChoices.deprovision).describe(
    'Effect of a SCIM DELETE on the traveler. With "delete", a traveler that the travel API refuses to delete, e.g. after a trip, is archived.',
  ),
  onReturn: choice(policyChoices.onReturn).describe(
    'Effect if another person takes the place of a user who left: "separate" creates a new traveler, "revive" assigns the traveler of the leaver with every field reset, "hold" waits for an admin. See docs/operations/leaving-and-returning.md, which also says when it is another person.',
  ),
  drift: choice(policyChoices.drift).describe(
    'Effect if a provisioned field was changed in the travel service: "report" records it, "correct" sends the value of the IdP again, at most three times an hour.',
  ),
  inactiveManager: choice(policyChoices.inactiveManager).describe(
    'Effect if a manager is deactivated: "keep" leaves the manager with the reports, who get the finding managerInactive; "clear" removes the manager from them until the manager is reactivated.',
  ),
  preexistingRoles: choice(policyChoices.preexistingRoles).describe(
    'Effect if the IdP takes away a role that the traveler had before the IdP granted it: "keep" leaves the role, with the finding rolePreexisting; "adopt" removes it.',
  ),
  reclaimEmail: flag
    .default(false)
    .describe(
      'With true, the archived traveler of a leaver gives up its email address when somebody changes theirs to it. New users do not need it: see onReturn.',
    ),
  safetyValve: z
    .union([z.literal(false), safetyValve], {
      error: faultText(
        'is no safety valve',
        'Write false, or e.g. {"share": 0.05, "minimum": 20, "windowMinutes": 60}.',
      ),
    })
    .prefault({})
    .describe(
      'The largest number of people who may leave before an admin must decide. With false there is no limit.',
    ),
});

/** One connection: an identity provider that provisions the users of a travel account. */
export const connectionSchema = z.strictObject({
  mapping: z
    .string()
    .optional()
    .describe(
      'A mapping file, relative to the settings file. Without one, the default rules are in force until "npx jetbridge mapping apply". Default: none.',
    ),
  scimTokenEnv: variableName
    .optional()
    .describe(
      'The environment variable with the bearer token of this connection. Without it, "npx jetbridge tokens create" creates tokens. Default: SCIM_TOKEN for the connection "default", none for others.',
    ),
  travelApi: travelApiSchema.prefault({}).describe('The travel API of the connection.'),
  mode: z
    .enum(connectionModeNames)
    .default('live')
    .describe(
      'The mode in which a new connection begins: "live", "shadow" (everything is planned and reported, and nothing is sent) or "paused" (only people whom the identity provider sends from then on are provisioned). Once the connection exists, the admin page and "npx jetbridge connections mode" change it. See docs/operations/shadow-mode.md.',
    ),
  policies: policiesSchema.prefault({}).describe('Decisions about existing, leaving and returning people.'),
});

/** A connection that is stored in the database. Only the settings file can name a file, and a variable with a SCIM token. */
export const storedConnectionSchema = connectionSchema.omit({ mapping: true, scimTokenEnv: true });

/** The name of a connection. */
export const connectionId = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,39}$/,
    faultText(
      'is no name of a connection',
      'Write at most 40 lower-case letters, digits and hyphens, beginning with a letter.',
    ),
  );

const providerFault = { error: faultText('is no https URL', 'Give e.g. "https://login.example.com".') };

const providerUrl = z.url({ protocol: /^https?$/, ...providerFault }).refine(isSafeUrl, providerFault);

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
    allowPrivate: flag
      .default(false)
      .describe(
        'With true, webhooks may have URLs that resolve to private addresses, such as this machine and its network.',
      ),
  })
  .describe('Limits of the webhooks that receive events.');

const oauthClients = z
  .strictObject({
    allowPrivate: flag
      .default(false)
      .describe(
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
    clientSecretEnv: variableName
      .default('ADMIN_OPENID_CLIENT_SECRET')
      .describe('The environment variable with the secret of the client.'),
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
    timeoutMs: wholeNumber(100, 30_000, 5_000)
      .default(5_000)
      .describe('The time limit of one request to the provider, in milliseconds.'),
  })
  .refine(({ admins, viewers }) => admins !== undefined || viewers !== undefined, {
    error: faultText(
      'lets nobody in',
      'Add e.g. "admins": {"claim": "groups", "values": ["travel-admins"]}.',
    ),
  })
  .describe(
    'An OpenID provider with which people sign in to the admin page, beside those with a password. At least one of "admins" and "viewers" is required. See docs/operations/admin-accounts.md.',
  );

const adminPage = z
  .strictObject({
    passwordSignIn: flag
      .default(true)
      .describe(
        'With false, people sign in to the admin page through adminPage.openid alone, which is then required: the provider asks for its second factor. Sessions that began with a password end. See docs/operations/admin-accounts.md for the way back in while the provider is down.',
      ),
    openid: adminOpenid.optional(),
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
      'The domain of the temporary address that a traveler gets while addresses are swapped and no other is free. With null there are no temporary addresses.',
    ),
});

const importSettings = z.strictObject({
  minimumShare: share
    .default(0.5)
    .describe(
      'The share of at least 20 known travelers that an import must find before it treats the missing ones as deleted.',
    ),
  maximum: wholeNumber(100, 10_000_000, 200_000)
    .optional()
    .describe(
      'The number of travelers at which an import ends, with an alarm: a travel API may list travelers for ever. Those beyond are not touched, and none is treated as deleted. Default: twice the known people, at least 100000.',
    ),
});

const retention = z.strictObject({
  tombstones: wholeNumber(1, 36_500, 400)
    .default(400)
    .describe(
      'The number of days for which a deleted user is kept for a return after the traveler is archived or deleted.',
    ),
});

const requestLog = z.strictObject({
  keepDays: wholeNumber(0, 365, 14)
    .default(14)
    .describe(
      'The number of days for which SCIM requests, travel calls, token requests and requests to the embedded travel service are kept, with the bodies of writes and errors, encrypted. With 0 none are recorded, and those that were are deleted.',
    ),
  keepEntries: wholeNumber(1_000, 100_000_000, 2_000_000)
    .default(2_000_000)
    .describe(
      'The number of requests beyond which the oldest are deleted earlier. A read takes about 700 bytes in the database, a write with its calls about 10 KB.',
    ),
});

/** The setting of earlier versions. */
const exchangeLog = z.strictObject({
  keepDays: wholeNumber(0, 365, 14)
    .optional()
    .describe('Used in place of `requestLog.keepDays`, with a warning. Set that instead.'),
});

const receiverFault = {
  error: faultText('is no URL without a password', 'Give e.g. "https://alerts.example.com/jetbridge".'),
};

const mailAddress = z
  .string()
  .regex(
    /^[^\s@<>()[\],;:"]{1,64}@[^\s@<>()[\],;:"]{1,255}$/,
    faultText('is no address of mail', 'Write one without a name, e.g. "on-call@corp.example".'),
  );

const slackAlerts = z
  .strictObject({
    urlEnv: variableName
      .default('ALERTS_SLACK_URL')
      .describe('The environment variable with the URL of the incoming webhook, which is a secret.'),
  })
  .describe('A channel of Slack that gets alerts. See docs/operations/alerts.md.');

const teamsAlerts = z
  .strictObject({
    urlEnv: variableName
      .default('ALERTS_TEAMS_URL')
      .describe('The environment variable with the URL of the workflow, which is a secret.'),
  })
  .describe('A channel or chat of Microsoft Teams that gets alerts. See docs/operations/alerts.md.');

const emailAlerts = z
  .strictObject({
    smtpUrlEnv: variableName
      .default('ALERTS_SMTP_URL')
      .describe(
        'The environment variable with the URL of the mail server, with user and password: smtps:// for TLS from the start, smtp:// for STARTTLS.',
      ),
    from: mailAddress.describe('The address of the sender.'),
    to: z
      .array(mailAddress)
      .min(1, faultText('has no address', 'Write at least one, e.g. ["on-call@corp.example"].'))
      .describe('The addresses of the recipients.'),
  })
  .describe('People who get alerts by mail. See docs/operations/alerts.md.');

const alerts = z.strictObject({
  after: wholeNumber(1, 1_440, 5)
    .default(5)
    .describe('An outage of the travel API is an alert when it has lasted this long, in minutes.'),
  webhookUrl: z
    .url({ protocol: /^https?$/, ...receiverFault })
    .refine(
      (url) => !URL.canParse(url) || new URL(url).username + new URL(url).password === '',
      receiverFault,
    )
    .optional()
    .describe('The URL that receives alerts, signed as Standard Webhooks. Default: none.'),
  secretEnv: variableName
    .default('ALERTS_WEBHOOK_SECRET')
    .describe('The environment variable with the secret that signs alerts, "whsec_" and base64.'),
  slack: slackAlerts.optional(),
  teams: teamsAlerts.optional(),
  email: emailAlerts.optional(),
});

const holds = z.strictObject({
  fourEyes: z
    .boolean()
    .default(false)
    .describe(
      'If true, the approval of a held change needs two admins, and is carried out when the second one approves. A discard needs one.',
    ),
});

/** The settings file. */
export const settingsSchema = z.strictObject({
  $schema: z.string().optional(),
  writeBudgetMs: wholeNumber(0, 10_000, 800)
    .default(800)
    .describe(
      'The longest time that a SCIM write waits for the travel API before it is answered, in milliseconds.',
    ),
  maxConnections: wholeNumber(16, 100_000, 1_000)
    .default(1_000)
    .describe(
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
  exchangeLog: exchangeLog
    .optional()
    .meta({ deprecated: true })
    .describe('The name of `requestLog` in earlier versions.'),
  alerts: alerts
    .prefault({})
    .describe('Alerts about conditions that need an operator. See docs/operations/alerts.md.'),
  holds: holds.prefault({}).describe('Decisions about held changes. See docs/operations/held-changes.md.'),
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
