import { QueryClient, useQuery } from '@tanstack/react-query';
import { Api, type Session } from './api-client.ts';

/** The failure of a request, with a message for an admin. */
export class RequestFailure extends Error {
  readonly status: number;
  readonly code: string;
  readonly faults: { field: string; message: string }[];

  constructor(status: number, { code, message, faults = [] }: Partial<ErrorBody>) {
    super(message ?? 'The service did not answer as expected. Try again.');
    this.status = status;
    this.code = code ?? 'internalError';
    this.faults = faults;
  }
}

interface ErrorBody {
  code: string;
  message: string;
  faults: { field: string; message: string }[];
}

/** Calls the admin API. Changes send the CSRF token of the session. */
export const api = new Api<string>({
  baseUrl: window.location.origin,
  securityWorker: (csrfToken) => (csrfToken ? { headers: { 'X-CSRF-Token': csrfToken } } : {}),
  // Without the format, the body of an error is not read where a success has none.
  baseApiParams: { secure: true, credentials: 'same-origin', format: 'json' },
  customFetch: (...request) => fetch(...request),
});

/** Awaits a call and converts its failure to a `RequestFailure`. */
export async function call<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throw toFailure(error);
  }
}

function toFailure(error: unknown): RequestFailure {
  if (error instanceof TypeError)
    return new RequestFailure(0, {
      code: 'offline',
      message: 'The service cannot be reached. Is it running?',
    });
  const { status = 0, error: body } = Object(error);
  return new RequestFailure(status, Object(body));
}

/** The cache of what was read. A failure that the caller can correct is not repeated. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) =>
        count < 2 && !(error instanceof RequestFailure && error.status in clientErrors),
    },
  },
});

const clientErrors = { 400: true, 401: true, 403: true, 404: true, 409: true, 422: true };

const sessionKey = ['session'];

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
    const session = await call(api.session.readSession());
    api.setSecurityData(session.csrfToken ?? null);
    return session;
  } catch (error) {
    if (error instanceof RequestFailure && error.status === 401) return null;
    throw error;
  }
}

/** Signs in. Throws a `RequestFailure`. */
export async function signIn(credentials: { name: string; password: string }): Promise<void> {
  const session = await call(api.session.signIn(credentials));
  api.setSecurityData(session.csrfToken ?? null);
  queryClient.setQueryData(sessionKey, session);
}

/** Signs out everywhere where this session is used, and forgets what was read. */
export async function signOut(): Promise<void> {
  await call(api.session.signOut());
  endSession();
}

const noticeKey = ['sign-in-notice'];

/** The message above the fields of the sign-in form; undefined if there is none. */
export function readSignInNotice(): string | undefined {
  return queryClient.getQueryData(noticeKey);
}

type SignInFailureCode = NonNullable<
  NonNullable<Parameters<typeof api.session.describeSignIn>[0]>['failure']
>;

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
  const { data } = useQuery({
    queryKey: ['sign-in', failure],
    queryFn: () => call(api.session.describeSignIn(failure ? { failure } : {})),
  });
  return data;
}

/** Shows the sign-in form again, after the service has ended the session; `notice` says why. */
export function endSession(notice?: string): void {
  api.setSecurityData(null);
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
