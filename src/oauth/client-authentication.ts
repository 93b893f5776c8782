import { invalidClient, OAuthError } from './errors.ts';

/** What a client brings to show who it is. */
export type Presented =
  | { kind: 'secret'; clientId: string; secret: string }
  | { kind: 'assertion'; clientId: string | undefined; assertion: string };

/** RFC 7523 §2.2 */
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** The parameters of a form. "Parameters sent without a value MUST be treated as if they were omitted" (RFC 6749 §3.2). */
export function parametersOf(form: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(form)) {
    // "Request and response parameters MUST NOT be included more than once."
    if (parameters.has(name)) throw new OAuthError('invalid_request', 'A parameter is given more than once.');
    parameters.set(name, value);
  }
  return new Map([...parameters].filter(([, value]) => value !== ''));
}

/** Reads who wants to be let in. "The client MUST NOT use more than one authentication method in each request" (RFC 6749 §2.3). */
export function presentedBy(authorization: string | undefined, form: Map<string, string>): Presented {
  const clientId = form.get('client_id');
  const secret = form.get('client_secret');
  const assertion = form.get('client_assertion');
  const type = form.get('client_assertion_type');
  if ([authorization, secret, assertion].filter((one) => one !== undefined).length > 1)
    throw new OAuthError('invalid_request', 'The client must use one method to show who it is, not several.');
  if (authorization !== undefined) return fromHeader(authorization, clientId);
  if (assertion !== undefined || type !== undefined) return fromAssertion(assertion, type, clientId);
  if (clientId === undefined || secret === undefined) throw invalidClient({ reason: 'no credential' });
  return { kind: 'secret', clientId, secret };
}

/** HTTP Basic, both parts "encoded using the application/x-www-form-urlencoded encoding algorithm" (RFC 6749 §2.3.1). */
function fromHeader(authorization: string, alsoNamed: string | undefined): Presented {
  const encoded = /^basic +([a-z0-9+/_-]+=*) *$/i.exec(authorization)?.[1];
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString('utf8')) ?? [];
  if (id === undefined || secret === undefined) throw invalidClient({ reason: 'malformed credential' });
  const clientId = formDecoded(id);
  if (alsoNamed !== undefined && alsoNamed !== clientId)
    throw new OAuthError('invalid_request', 'The header and client_id name different clients.');
  return { kind: 'secret', clientId, secret: formDecoded(secret) };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw invalidClient({ reason: 'malformed credential' }, error);
  }
}

function fromAssertion(
  assertion: string | undefined,
  type: string | undefined,
  clientId: string | undefined,
): Presented {
  if (assertion === undefined || type === undefined)
    throw new OAuthError('invalid_request', 'client_assertion and client_assertion_type go together.');
  if (type !== ASSERTION_TYPE)
    throw new OAuthError('invalid_client', `The client_assertion_type must be ${ASSERTION_TYPE}.`, {
      refusal: { reason: 'malformed credential' },
    });
  return { kind: 'assertion', clientId, assertion };
}
