import { z } from 'zod';
import { isAddressEntry, isSafeUrl } from '../http/proxies.ts';
import { faultText } from '../translator/mapping/mapping-faults.ts';

/** Makes the schema of a whole number in a range. The message for any other value names the range and an example. */
export function numberInRange(min: number, max: number, example: number) {
  const error = faultText(`is no whole number from ${min} to ${max}`, `Write one, e.g. ${example}.`);
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** The same with a default, which is the example of the message. */
export function wholeNumber(min: number, max: number, otherwise: number) {
  return numberInRange(min, max, otherwise).default(otherwise);
}

const shareFault = { error: faultText('is no part of a whole', 'Write a number from 0 to 1, e.g. 0.05.') };
/** Makes the schema of a share with a default. */
export function share(otherwise: number) {
  return z.number(shareFault).min(0, shareFault).max(1, shareFault).default(otherwise);
}

/** The name of an environment variable. */
export const variableName = z
  .string()
  .regex(
    /^[A-Z][A-Z0-9_]*$/,
    faultText(
      'is no name of an environment variable',
      'Write capitals, digits and _, e.g. "ACME_SCIM_TOKEN".',
    ),
  );

/** Makes the schema of the name of an environment variable with a default. */
export function variable(otherwise: string) {
  return variableName.default(otherwise);
}

/** Makes the schema of a flag with a default. */
export function flag(otherwise: boolean) {
  return z
    .boolean({ error: faultText('is neither true nor false', 'Write true or false.') })
    .default(otherwise);
}

const providerFault = { error: faultText('is no https URL', 'Give e.g. "https://login.example.com".') };

/** The URL of an OpenID provider or of its keys: https, or on this machine. */
export const providerUrl = z.url({ protocol: /^https?$/, ...providerFault }).refine(isSafeUrl, providerFault);

const addressesFault = faultText(
  'is no list of addresses',
  'Write at least one address or range, e.g. ["203.0.113.7", "2001:db8::/32"].',
);
const addressFault = faultText(
  'is neither an address nor a range',
  'Write e.g. "203.0.113.7", "203.0.113.0/24", "2001:db8::/32", "loopback" or "private".',
);

/** The addresses from which requests are accepted. */
export const allowedAddresses = z
  .array(z.string({ error: addressFault }).refine(isAddressEntry, { error: addressFault }), {
    error: addressesFault,
  })
  .min(1, { error: addressesFault });
