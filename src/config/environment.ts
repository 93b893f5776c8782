import { z } from 'zod';
import { isProxyEntry } from '../http/proxies.ts';
import { parseEncryptionKey } from '../store/encryption.ts';
import { faultText } from '../translator/mapping-faults.ts';
import { databaseUrl } from './database-url.ts';
import { secretWeakness } from './faults.ts';
import { travelUrl } from './schema.ts';

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
    for (const entry of entries.filter((candidate) => !isProxyEntry(candidate))) {
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

/** The environment variables. Empty ones must be removed first. */
export const environmentSchema = z.object({
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, port)
    .transform(Number)
    .refine((number) => number <= 65_535, port)
    .default(8080),
  HOST: z.string().default('127.0.0.1'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: faultText('is no URL', 'Give e.g. https://bridge.example.com.') })
    .optional(),
  JETBRIDGE_DATA: z.string().default('./data'),
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_CONNECTIONS: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, faultText('is no whole number from 1 to 999', 'Give one, e.g. 10.'))
    .transform(Number)
    .default(10),
  JETBRIDGE_KEY: encryptionKey
    .refine((key) => parseEncryptionKey(key) === undefined || secretWeakness(key.trim()) === undefined, {
      error: faultText(
        'repeats itself or has too few different characters, so it could be guessed',
        'Give what "openssl rand -hex 32" prints; the old key goes into JETBRIDGE_KEY_PREVIOUS.',
      ),
    })
    .optional(),
  // A weak previous key is accepted, because its weakness may be the reason for the change of keys.
  JETBRIDGE_KEY_PREVIOUS: encryptionKey.optional(),
  TRAVEL_API_URL: travelUrl.default('embedded'),
  TRAVEL_API_INSECURE: yesOrNo.default(false),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: faultText(
        'is no level of the log',
        'Give one of fatal, error, warn, info, debug, trace and silent.',
      ),
    })
    .default('info'),
  ADMIN_PASSWORD: z
    .string()
    .refine((password) => password.length >= 12 && secretWeakness(password) === undefined, {
      error: faultText(
        'has fewer than 12 characters, or repeats itself',
        'Give a longer one, or leave it out: the first start makes one and prints it.',
      ),
    })
    .optional(),
  TLS_CERT: z.string().optional(),
  TLS_KEY: z.string().optional(),
  REQUIRE_HTTPS: yesOrNo.optional(),
  TRUSTED_PROXIES: proxies,
});
