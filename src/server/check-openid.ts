import { toSignInFailure } from '../admin/openid/failures.ts';
import { discoverProvider } from '../admin/openid/provider.ts';
import type { AdminOpenidSettings } from '../config/settings.ts';

/** The reason for which the OpenID provider of the admin page cannot be used. */
export interface OpenidProblem {
  /** True if the settings are wrong; false if the provider does not answer at present. */
  isFault: boolean;
  text: string;
}

/** Reads the description of the OpenID provider. Returns undefined if nothing is wrong with it. */
export async function findOpenidProblem(openid: AdminOpenidSettings): Promise<OpenidProblem | undefined> {
  try {
    await discoverProvider(openid);
    return undefined;
  } catch (error) {
    const { code, message } = toSignInFailure(error);
    return { isFault: code !== 'unavailable', text: message };
  }
}
