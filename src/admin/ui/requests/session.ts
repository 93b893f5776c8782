import { useQuery } from '@tanstack/react-query';
import type { Session } from '../../sign-in/sign-in.ts';
import { call, type Input, RequestFailure, setCsrfToken } from './api.ts';
import { queryClient, useRead } from './queries.ts';

const sessionKey = ['session'];

/** True if the signed-in account may change something. */
export function useIsAdmin(): boolean {
  return useSession()?.role === 'admin';
}

/** The session of this browser: undefined while it is read, null if nobody is signed in. */
export function useSession(): Session | null | undefined {
  const { data } = useQuery({
    queryKey: sessionKey,
    queryFn: readSession,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data;
}

async function readSession(): Promise<Session | null> {
  try {
    const session = await call('readSession');
    setCsrfToken(session.csrfToken);
    return session;
  } catch (error) {
    if (error instanceof RequestFailure && error.status === 401) return null;
    throw error;
  }
}

/** Signs in. Throws a `RequestFailure`. */
export async function signIn(credentials: Input<'signIn'>): Promise<void> {
  const session = await call('signIn', credentials);
  setCsrfToken(session.csrfToken);
  queryClient.setQueryData(sessionKey, session);
}

/** Signs out everywhere where this session is used, and forgets what was read. */
export async function signOut(): Promise<void> {
  await call('signOut');
  endSession();
}

const noticeKey = ['sign-in-notice'];

/** The message above the fields of the sign-in form; undefined if there is none. */
export function readSignInNotice(): string | undefined {
  return queryClient.getQueryData(noticeKey);
}

type SignInFailureCode = NonNullable<Input<'describeSignIn'>['failure']>;

/** Removes the failure of a sign-in through the OpenID provider from the address, and returns it; undefined if there is none. */
export function takeSignInFailure(): SignInFailureCode | undefined {
  const url = new URL(window.location.href);
  const failure = url.searchParams.get('signInFailure');
  if (failure === null) return undefined;
  url.searchParams.delete('signInFailure');
  window.history.replaceState(null, '', url);
  // The API checks the code.
  return failure as SignInFailureCode;
}

/** The ways to sign in, and with a failure its text; undefined while they are read. */
export function useSignInWays(failure?: SignInFailureCode) {
  return useRead('describeSignIn', { failure }).data;
}

/** Shows the sign-in form again, after the service has ended the session; `notice` says why. */
export function endSession(notice?: string): void {
  setCsrfToken(undefined);
  queryClient.setQueryData(noticeKey, notice);
  queryClient.setQueryData(sessionKey, null);
  const kept = [sessionKey[0], noticeKey[0]];
  queryClient.removeQueries({ predicate: ({ queryKey }) => !kept.includes(String(queryKey[0])) });
}

queryClient.getQueryCache().subscribe(({ type, query }) => {
  const { error } = query.state;
  const isEnded = error instanceof RequestFailure && error.status === 401;
  if (type === 'updated' && isEnded && queryClient.getQueryData(sessionKey)) endSession();
});
