import { z } from 'zod';
import { connectionModeNames, policyChoices, scimProfileNames } from '../model/policies.ts';
import { faultText } from '../translator/mapping/mapping-faults.ts';
import { peopleFilter } from '../translator/mapping/mapping-file.ts';
import {
  allowedAddresses,
  numberInRange,
  providerUrl,
  share,
  variable,
  variableName,
  wholeNumber,
} from './schema-parts.ts';

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

const travelUrlFault = {
  error: faultText('is no URL', 'Give "embedded", or e.g. "https://travel.example.com".'),
};
/** `embedded`, or the URL of a travel API. */
export const travelUrl = z.union(
  [z.literal('embedded'), z.url({ protocol: /^https?$/, ...travelUrlFault })],
  travelUrlFault,
);

const eventFeed = z.strictObject({
  everyMs: wholeNumber(100, 3_600_000, 4_000).describe(
    'The interval of the calls that read the feed, in milliseconds.',
  ),
});

/** The travel API of a connection. */
export const travelApiSchema = z.strictObject({
  url: travelUrl
    .optional()
    .describe(
      'The base URL of the travel API of this connection, without /api; "embedded" is the embedded travel service. Plain http:// needs TRAVEL_API_INSECURE unless it is loopback. Default: TRAVEL_API_URL.',
    ),
  keyEnv: variable('TRAVEL_API_KEY').describe(
    'The environment variable with the credential of the travel API.',
  ),
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
        'Write false, or e.g. {"everyMs": 4000}, from 100 to 3600000.',
      ),
    })
    .prefault({})
    .describe(
      'How the event feed of the travel API is polled, if its profile has one. With false there is no feed, and the hourly import finds changes that are made in the travel service.',
    ),
  timeoutMs: wholeNumber(100, 60_000, 10_000).describe(
    'The time limit of one call, in milliseconds. It includes the wait for its turn.',
  ),
  concurrency: wholeNumber(1, 64, 8).describe('The largest number of concurrent calls.'),
  perSecond: wholeNumber(1, 1_000, 100).describe('The largest number of calls in a second.'),
  lateMs: wholeNumber(0, 600_000, 30_000).describe(
    'The longest time after which the travel API may still execute a call that it has not answered, in milliseconds. The traveler is read once more after it.',
  ),
});

const safetyValve = z.strictObject({
  share: share(0.05).describe('The share of the active people who may leave within the window, from 0 to 1.'),
  minimum: wholeNumber(0, 1_000_000, 20).describe(
    'The number of people who may leave within the window in any case. The larger of this and the share is the limit.',
  ),
  windowMinutes: wholeNumber(1, 10_080, 60).describe(
    'The period in which people who leave are counted, in minutes.',
  ),
});

/** Makes the schema of one of several texts. The first is the default. */
function choice<const Choices extends readonly [string, ...string[]]>(choices: Choices) {
  return z.enum(choices).default(choices[0]);
}

/** Decisions about people who leave, and about changes in the travel service. */
export const policiesSchema = z.strictObject({
  deprovision: choice(policyChoices.deprovision).describe(
    'Effect of a SCIM DELETE on the traveler. With "delete", a traveler that the travel API refuses to delete, e.g. after a trip, is archived.',
  ),
  drift: choice(policyChoices.drift).describe(
    'Effect if a provisioned field was changed in the travel service: "report" records it, "correct" sends the value of the IdP again, at most three times an hour.',
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

const claimFault = { error: faultText('is no text', 'Copy it from the identity provider.') };
const claim = z.string(claimFault).trim().min(1, claimFault).max(1_000, claimFault);

const federationFault = {
  error: faultText(
    'is no list of workloads',
    'Write at least one, e.g. [{"issuer": "https://login.microsoftonline.com/<tenant id>/v2.0", "subject": "…", "audience": "api://…"}].',
  ),
};

const federation = z
  .array(
    z.strictObject({
      issuer: providerUrl.describe(
        'The issuer of the assertions, exactly as in their claim "iss" and in <issuer>/.well-known/openid-configuration, which names its keys. For Entra ID "https://login.microsoftonline.com/<tenant id>/v2.0".',
      ),
      subject: claim.describe('The workload, exactly as in the claim "sub".'),
      audience: claim.describe('A text that the claim "aud" must contain.'),
    }),
    federationFault,
  )
  .min(1, federationFault);

/** Which requests of an identity provider are accepted. */
export const accessSchema = z.strictObject({
  federation: federation
    .optional()
    .describe(
      'Workloads of other issuers that get access tokens of this connection at /oauth/token by an assertion in place of a secret (RFC 7523): workload identity federation of Entra ID. Their client_id is the name of the connection. See docs/operations/tokens.md. Default: none.',
    ),
  requestsPerSecond: numberInRange(1, 10_000, 25)
    .optional()
    .describe(
      'The largest number of SCIM requests in a second that each replica answers for this connection; further ones get 429 with Retry-After. See docs/operations/limits.md. Default: no limit.',
    ),
  allowFrom: allowedAddresses
    .optional()
    .describe(
      'The addresses from which requests of this connection are accepted: addresses, ranges such as "203.0.113.0/24", "loopback" or "private". Others get 403. See docs/operations/limits.md. Default: all.',
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
      'The mode in which a new connection begins: "live" or "shadow" (everything is planned and reported, and nothing is sent). Once the connection exists, the admin page and "npx jetbridge connections mode" change it. See docs/operations/shadow-mode.md.',
    ),
  pilot: peopleFilter
    .optional()
    .describe(
      'The pilot with which a new connection begins in shadow mode: a SCIM filter, as "scope" of a mapping, of the people who are provisioned while the others are planned. Once the connection exists, the admin page and "npx jetbridge connections pilot" change it. See docs/operations/shadow-mode.md. Default: none.',
    )
    .meta({ examples: ['groups[display eq "Pilot"]'] }),
  scim: choice(scimProfileNames).describe(
    'The SCIM requests that are accepted: "interoperable" accepts what identity providers send, also where it departs from the RFCs; "strict" refuses what the SCIM interoperability profile forbids. See docs/scim-profiles.md.',
  ),
  policies: policiesSchema
    .prefault({})
    .describe('Decisions about people who leave, and about changes in the travel service.'),
  ...accessSchema.shape,
});

/**
 * A connection that is stored in the database. Only the settings file can name a file, a variable with a SCIM token, and paths of a travel
 * API: an admin of the page must not choose what the credential opens.
 */
export const storedConnectionSchema = connectionSchema.omit({ mapping: true, scimTokenEnv: true }).extend({
  travelApi: travelApiSchema.extend({ paths: z.strictObject({}).default({}) }).prefault({}),
});

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
