import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';

/** What no line may show: secrets, and what tells who somebody is. */
const struck = [
  'authorization',
  'token',
  'password',
  'secret',
  'key',
  'userName',
  'email',
  'emails',
  'name',
  'displayName',
  'externalId',
  'phoneNumber',
  'phoneNumbers',
];

/** The log of the process: JSON lines, secrets and personal data struck out (DESIGN §3). */
export function newLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    redact: { paths: struck.flatMap((name) => [name, `*.${name}`]), censor: '*' },
    serializers: { err: serializeError },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Errors of libraries quote what they were given. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return strike(String(error));
  const { type, message, stack } = stdSerializers.err(error);
  return { type, message: strike(message), stack: strike(stack) };
}

/** Strikes out email addresses; the length is bounded first, since the search is not linear. */
function strike(text: string): string {
  return text.slice(0, 4000).replace(/[^\s@"'<>(),;]{1,100}@[^\s@"'<>(),;]+/g, '*@*');
}
