import { z } from 'zod';
import type { Declarations } from '../../operations/operation.ts';
import { optionalText } from '../../operations/schemas.ts';
import { signInFailureCodes } from '../openid/failures.ts';

/** A repeated parameter counts as none. */
const text = optionalText.catch(undefined);

/** The ways to sign in, and signing in through the OpenID provider. Browsers follow the redirects; scripts have tokens. */
export const openidContract = {
  describeSignIn: {
    ...{ method: 'get', path: '/sign-in', tag: 'Session', access: 'anyone' },
    summary: 'List the ways to sign in',
    query: z.strictObject({
      failure: z
        .enum(signInFailureCodes)
        .optional()
        .catch(undefined)
        .describe('Of a sign-in through the OpenID provider: asks for its text'),
    }),
    result: z.object({
      password: z.boolean().describe('False if only the OpenID provider opens the page'),
      openid: z.object({ label: z.string() }).optional(),
      failure: optionalText.describe('The text of the failure that the query names'),
    }),
  },
  beginOpenidSignIn: {
    ...{ method: 'get', path: '/sign-in/openid', tag: 'Session', access: 'anyone', isNavigation: true },
    summary: 'Go to the OpenID provider to sign in',
    query: z.looseObject({ returnTo: text.describe('The address on the page to return to') }),
  },
  signInWithOpenid: {
    ...{ method: 'get', path: '/sign-in/openid/callback', tag: 'Session', access: 'anyone' },
    isNavigation: true,
    summary: 'Return from the OpenID provider; recorded in the audit log',
    query: z.looseObject({ code: text, state: text, error: text }),
  },
} as const satisfies Declarations;
