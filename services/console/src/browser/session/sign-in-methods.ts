/** The ways to sign in that a namespace offers to everybody, and the logins by them. */
import {
  keepPreviousData,
  queryOptions,
  type UseQueryResult,
  useQuery,
} from '@tanstack/react-query';
import { callSecrets } from '../api/secrets-api.ts';
import { changeSession, readSession } from '../api/session.ts';
import {
  type FactorAnswers,
  type Login,
  type SecondFactor,
  secondFactorOf,
} from './second-factor.ts';
import { signIn } from './sign-in.ts';

const OFFERED = ['oidc', 'userpass', 'ldap', 'cert'] as const;

/** An auth method that is mounted below `auth/`. */
export interface MountedMethod {
  readonly type: (typeof OFFERED)[number];
  /** Path below `auth/`, with a slash at its end. */
  readonly path: string;
  /** The description of the mount, or its path. */
  readonly title: string;
}

/** The accounts of the workspace API, which are no mount. */
export const ACCOUNTS = { type: 'accounts', path: '', title: 'workspaces' } as const;

export type SignInMethod =
  | MountedMethod
  | (typeof ACCOUNTS & {
      /** Whether a link for a new password is sent by mail. */
      readonly hasReset: boolean;
    });

interface VisibleMounts {
  readonly data: {
    readonly auth: Readonly<
      Record<string, { readonly type: string; readonly description: string }>
    >;
  };
}

const isOffered = (type: string): type is MountedMethod['type'] =>
  OFFERED.some((one) => one === type);

/** The methods that administrators show to everybody (`listing_visibility=unauth`), by their titles. */
export const signInMethodsIn = (namespace: string) =>
  queryOptions({
    queryKey: ['sign-in-methods', namespace],
    queryFn: async ({ signal }): Promise<readonly MountedMethod[]> => {
      const call = { signal, token: '', namespace };
      const { data } = await callSecrets<VisibleMounts>('GET', 'sys/internal/ui/mounts', call);
      return Object.entries(data.auth)
        .flatMap(([path, { type, description }]) =>
          isOffered(type) ? [{ type, path, title: description || path.slice(0, -1) }] : [],
        )
        .toSorted((one, other) => one.title.localeCompare(other.title));
    },
    retry: false,
  });

export const useSignInMethods = (
  namespace: string,
  enabled: boolean,
): UseQueryResult<readonly MountedMethod[]> =>
  useQuery({
    ...signInMethodsIn(namespace),
    enabled,
    // The methods of the last namespace stay until the others are there, so that nothing that is typed is lost.
    placeholderData: keepPreviousData,
  });

/** @returns the second factor that the login waits for; undefined once it has its token */
const startSession = async (login: Login, namespace: string): Promise<SecondFactor | undefined> => {
  const factor = secondFactorOf(login, namespace);
  if (factor !== undefined) return factor;
  // The token is known in the namespace of its method.
  changeSession({ ...readSession(), namespace });
  await signIn(login.auth.client_token);
  changeSession({ ...readSession(), isOwnLogin: true });
  return undefined;
};

/**
 * Ends a login that waits for its second factor.
 * @param answers passcodes and passkeys by the ids of their methods
 * @throws {ApiProblem} when one is wrong, in the words of the server
 */
export const finishLogin = async (
  { requestId, namespace }: SecondFactor,
  answers: FactorAnswers,
): Promise<void> => {
  const body = { mfa_request_id: requestId, mfa_payload: answers };
  const call = { body, token: '', namespace };
  await startSession(await callSecrets<Login>('POST', 'sys/mfa/validate', call), namespace);
};

/**
 * @returns the second factor that the login waits for, if any
 * @throws {ApiProblem} when the method refuses the password, in its words
 */
export const signInWithPassword = async (
  { path }: MountedMethod,
  { name, password }: { readonly name: string; readonly password: string },
): Promise<SecondFactor | undefined> => {
  const { namespace } = readSession();
  const user = `auth/${path}login/${encodeURIComponent(name)}`;
  const call = { body: { password }, token: '', namespace };
  return startSession(await callSecrets<Login>('POST', user, call), namespace);
};

/**
 * Signs in with the certificate that the browser has shown on its connection.
 * @returns the second factor that the login waits for, if any
 * @throws {ApiProblem} when there is none that the method accepts, in its words
 */
export const signInWithCertificate = async ({
  path,
}: MountedMethod): Promise<SecondFactor | undefined> => {
  const { namespace } = readSession();
  const call = { body: {}, token: '', namespace };
  return startSession(await callSecrets<Login>('POST', `auth/${path}login`, call), namespace);
};

/** Where a provider sends the browser back to; the roles of a method must allow its address. */
export const PROVIDER_RETURN_PATH = '/ui/sign-in/return';

const KEY = 'keelson-provider-login';

/** A login that has left for a provider. */
interface LeftLogin {
  readonly path: string;
  readonly namespace: string;
  /** Proves to the server that the login was begun in this tab. */
  readonly clientNonce: string;
  /** Page to show after it. */
  readonly returnTo: string;
}

export const randomText = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

export const requireWebAddress = (address: string): string => {
  if (!['https:', 'http:'].includes(new URL(address).protocol))
    throw new Error('the address of the provider is not one of the web');
  return address;
};

/**
 * Sends the browser to the provider of a method.
 * @throws {ApiProblem} when the method is not ready, and an Error that names what its role must allow
 */
export const leaveForProvider = async ({ path }: MountedMethod): Promise<void> => {
  const { namespace } = readSession();
  const clientNonce = randomText();
  const redirectUri = `${location.origin}${PROVIDER_RETURN_PATH}`;
  const { data } = await callSecrets<{ readonly data: { readonly auth_url: string } }>(
    'POST',
    `auth/${path}oidc/auth_url`,
    {
      body: { redirect_uri: redirectUri, client_nonce: clientNonce },
      token: '',
      namespace,
      showsWarnings: true,
    },
  );
  if (data.auth_url === '')
    throw new Error(`allowed_redirect_uris of the default role must contain ${redirectUri}`);
  const returnTo = location.pathname + location.search;
  const left: LeftLogin = { path, namespace, clientNonce, returnTo };
  sessionStorage.setItem(KEY, JSON.stringify(left));
  location.assign(requireWebAddress(data.auth_url));
};

/** The parameters that a provider adds to the address with which it sends the browser back (RFC 6749, RFC 9207). */
export interface ProviderAnswer {
  readonly state?: string;
  readonly code?: string;
  readonly iss?: string;
  readonly error?: string;
  readonly error_description?: string;
}

const NAMES = ['state', 'code', 'iss', 'error', 'error_description'] as const;

/** Texts of digits alone arrive as numbers. */
export const parseProviderAnswer = (search: Readonly<Record<string, unknown>>): ProviderAnswer =>
  Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
    }),
  );

const takeLeftLogin = (): LeftLogin | undefined => {
  const left = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return left === null ? undefined : (JSON.parse(left) as LeftLogin);
};

export interface ProviderLogin {
  /** The page to show. */
  readonly returnTo: string;
  /** Absent once the login has its token. */
  readonly factor: SecondFactor | undefined;
}

/**
 * Ends a login at a provider.
 * @throws an Error that says what the provider or the method has refused
 */
export const finishProviderLogin = async (answer: ProviderAnswer): Promise<ProviderLogin> => {
  const left = takeLeftLogin();
  if (left === undefined)
    throw new Error('this tab has not begun to sign in, or has ended to do so already');
  if (answer.error !== undefined)
    throw new Error(`the provider has refused: ${answer.error_description ?? answer.error}`);
  const { path, namespace, clientNonce, returnTo } = left;
  const query = new URLSearchParams({ client_nonce: clientNonce });
  for (const name of ['state', 'code', 'iss'] as const) query.set(name, answer[name] ?? '');
  const call = { token: '', namespace };
  const login = await callSecrets<Login>('GET', `auth/${path}oidc/callback?${query}`, call);
  return { returnTo, factor: await startSession(login, namespace) };
};
