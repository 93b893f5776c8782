import { z } from 'zod';
import { isAddressEntry } from '../http/proxies.ts';
import { parseEncryptionKey } from '../store/credentials/encryption.ts';
import { faultText } from '../translator/mapping/mapping-faults.ts';
import { travelUrl } from './connection-schema.ts';
import { databaseUrl } from './database-url.ts';
import { secretWeakness } from './faults.ts';

const text = z.string().optional();

const yes = ['true', 'on', '1'];
const no = ['false', 'off', '0'];
const yesOrNo = z
  .enum([...yes, ...no], { error: faultText('is neither true nor false', 'Give true or false.') })
  .transform((text) => yes.includes(text));

/** A comma-separated list of addresses, ranges and the words `loopback` and `private`. */
const proxies = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((entry) => entry.trim() || []))
  .superRefine((entries, context) => {
    for (const entry of entries.filter((candidate) => !isAddressEntry(candidate))) {
      const remedy =
        'Give e.g. "10.0.0.7", "10.0.0.0/8", "loopback" or "private", with commas between several.';
      const message = faultText(`has ${JSON.stringify(entry)}, which is no address or range`, remedy);
      context.addIssue({ code: 'custom', message });
    }
  });

const port = faultText('is no port', 'Give a number from 0 to 65535; 0 takes any free one.');

const encryptionKey = z.string().refine((key) => parseEncryptionKey(key) !== undefined, {
  error: faultText('is no key of 32 bytes', 'Give what "openssl rand -hex 32" prints.'),
});

const network = {
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, port)
    .transform(Number)
    .refine((number) => number <= 65_535, port)
    .default(8080)
    .describe('The port. 0 takes any free one.'),
  HOST: z
    .string()
    .default('127.0.0.1')
    .describe('The address to listen on. `0.0.0.0` listens on all addresses.'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: faultText('is no URL', 'Give e.g. https://bridge.example.com.') })
    .optional()
    .meta({
      description:
        'The address that clients use, e.g. `https://bridge.example.com`: every `meta.location` and `Location` begins with it. It is required with `adminPage.openid`.',
      defaultText: 'the address in the request',
    }),
  TLS_CERT: text.describe(
    'The PEM file of the certificate with its chain. With `TLS_KEY`, the port serves HTTPS.',
  ),
  TLS_KEY: text.describe('The PEM file of the key of the certificate.'),
  REQUIRE_HTTPS: yesOrNo.optional().meta({
    description: '`true` refuses plain HTTP from other machines, `false` accepts it.',
    defaultText: '`true`, unless `HOST` is loopback',
  }),
  TRUSTED_PROXIES: proxies.describe(
    'The proxies whose `X-Forwarded-*` headers are trusted: addresses, ranges such as `10.0.0.0/8`, `loopback` or `private`, separated by commas. Name nothing but your proxies: whoever has a trusted address can pretend any client address, and HTTPS. See docs/operations/https.md.',
  ),
};

const storage = {
  JETBRIDGE_DATA: z.string().default('./data').describe('The folder of the embedded database.'),
  DATABASE_URL: databaseUrl
    .optional()
    .describe(
      'A PostgreSQL database to use in place of the embedded one: `postgres://user:password@host/database`. See docs/operations/postgresql.md.',
    ),
  DATABASE_CONNECTIONS: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, faultText('is no whole number from 1 to 999', 'Give one, e.g. 10.'))
    .transform(Number)
    .default(10)
    .describe('The largest number of connections that one process opens to PostgreSQL, 1 to 999.'),
  JETBRIDGE_KEY: encryptionKey
    .refine((key) => parseEncryptionKey(key) === undefined || secretWeakness(key.trim()) === undefined, {
      error: faultText(
        'repeats itself or has too few different characters, so it could be guessed',
        'Give what "openssl rand -hex 32" prints; the old key goes into JETBRIDGE_KEY_PREVIOUS.',
      ),
    })
    .optional()
    .meta({
      description:
        'The key that encrypts the secrets of webhooks: 32 bytes, as `openssl rand -hex 32` prints them. It is required with `DATABASE_URL`.',
      defaultText: 'created in `JETBRIDGE_DATA`',
    }),
  // A weak previous key is accepted, because its weakness may be the reason for the change of keys.
  JETBRIDGE_KEY_PREVIOUS: encryptionKey
    .optional()
    .describe(
      'The previous key. For one start after a change, it decrypts the secrets that were encrypted with it. See docs/operations/change-the-key.md.',
    ),
};

const connections = {
  // The settings file names the variables of a connection; these are the names by default.
  SCIM_TOKEN: text.meta({
    description: 'The bearer token of the connection `default`, 16 characters or more.',
    defaultText: 'created at the first start and printed once',
  }),
  TRAVEL_API_URL: travelUrl
    .default('embedded')
    .describe(
      'The base URL of a real travel API, without `/api`. `embedded` is the embedded travel service.',
    ),
  TRAVEL_API_KEY: text.meta({
    description:
      'The credential for the travel API. For the embedded travel service it is the API key of its first admin.',
    defaultText: 'created at the first start and printed once',
  }),
  TRAVEL_API_INSECURE: yesOrNo
    .default(false)
    .describe('`true` allows a travel API at a plain `http://` URL of another machine.'),
};

const administration = {
  JETBRIDGE_CONFIG: text.meta({
    description: 'The settings file.',
    defaultText: '`config/jetbridge.json` in the current folder, else in the folder of the program',
  }),
  ADMIN_PASSWORD: z
    .string()
    .max(200, faultText('has more than 200 characters, with which nobody can sign in', 'Give a shorter one.'))
    .optional()
    .meta({
      description:
        'The password of the built-in admin of the admin page, whose name is `admin`; 200 characters at most. One with fewer than 12 characters, and one that repeats itself, are accepted with a warning. A changed one ends the sessions of the one before.',
      defaultText: 'created at the first start and printed once',
    }),
  ADMIN_OPENID_CLIENT_SECRET: text.describe(
    'The secret of the client at the OpenID provider of the admin page. `adminPage.openid.clientSecretEnv` may name another variable.',
  ),
  ALERTS_WEBHOOK_SECRET: text.describe(
    'The secret that signs alerts, `whsec_` and base64. `alerts.secretEnv` may name another variable.',
  ),
  ALERTS_SLACK_URL: text.describe(
    'The URL of the incoming webhook of Slack that gets alerts. `alerts.slack.urlEnv` may name another variable.',
  ),
  ALERTS_TEAMS_URL: text.describe(
    'The URL of the workflow of Microsoft Teams that gets alerts. `alerts.teams.urlEnv` may name another variable.',
  ),
  ALERTS_PAGERDUTY_KEY: text.describe(
    'The integration key of the service of PagerDuty that gets alerts. `alerts.pagerduty.keyEnv` may name another variable.',
  ),
  ALERTS_SMTP_URL: text.describe(
    'The URL of the mail server that takes alerts, e.g. `smtps://user:password@mail.example.com`. `alerts.email.smtpUrlEnv` may name another variable.',
  ),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: faultText(
        'is no level of the log',
        'Give one of fatal, error, warn, info, debug, trace and silent.',
      ),
    })
    .default('info')
    .describe(
      'The level of the log, JSON lines on stdout: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
    ),
};

const endpoint = z.url({
  protocol: /^https?$/,
  error: faultText('is no URL', 'Give e.g. http://localhost:4318.'),
});

const traces = {
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint
    .optional()
    .describe(
      'The address of an OpenTelemetry collector for OTLP over HTTP, e.g. `http://localhost:4318`; `/v1/traces` is added. Without it there are no traces. See docs/operations/traces-and-dashboards.md.',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint
    .optional()
    .describe('The same with its path, in place of `OTEL_EXPORTER_OTLP_ENDPOINT`.'),
  OTEL_EXPORTER_OTLP_HEADERS: text.describe(
    'Headers of the requests to the collector, such as a credential: `name=value`, separated by commas.',
  ),
  OTEL_SERVICE_NAME: z.string().default('jetbridge').describe('The name of the service in the traces.'),
  OTEL_RESOURCE_ATTRIBUTES: text.describe(
    'Attributes of all spans, e.g. `deployment.environment.name=production`, separated by commas.',
  ),
  OTEL_TRACES_SAMPLER: z
    .string()
    .default('parentbased_always_on')
    .describe(
      'Which traces are sent: `always_on`, `always_off`, `traceidratio`, or one of them with the prefix `parentbased_`, which follows the decision of the caller.',
    ),
  OTEL_TRACES_SAMPLER_ARG: text.describe('The share of traces that `traceidratio` sends, from 0 to 1.'),
  OTEL_TRACES_EXPORTER: z.string().default('otlp').describe('`none` turns traces off.'),
  OTEL_SDK_DISABLED: yesOrNo.default(false).describe('`true` turns traces off.'),
};

/** The environment variables in groups, as docs/settings.md shows them. `defaultText` describes a default that is no value. */
export const environmentGroups = {
  'Address and HTTPS': network,
  'Database and keys': storage,
  'The IdP and the travel API': connections,
  'Settings file, admin page, alerts and log': administration,
  Traces: traces,
};

/** The environment variables. Empty ones must be removed first. */
export const environmentSchema = z.object({
  ...{ ...network, ...storage, ...connections, ...administration, ...traces },
});
