/** The request of a client of OpenID Connect, in the address with which it opens the console. */
import { request } from '../api/api-problem.ts';
import { changeSession, isSignedIn, readSession, sessionHeaders } from '../api/session.ts';
import { leaveSession } from './sign-out.ts';

/** As the discovery document of a provider names it. */
export const CLIENT_SIGN_IN_PATH = '/ui/identity/oidc/provider/$provider/authorize';

const NAMES = [
  'client_id',
  'redirect_uri',
  'scope',
  'response_type',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'max_age',
  'request',
  'request_uri',
  'prompt',
  'namespace',
] as const;

export type ClientRequest = Readonly<Partial<Record<(typeof NAMES)[number], string>>>;

/** Texts of digits alone arrive as numbers. */
export const parseClientRequest = (search: Readonly<Record<string, unknown>>): ClientRequest =>
  Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
    }),
  );

const promptsOf = ({ prompt = '' }: ClientRequest): readonly string[] =>
  prompt.split(' ').filter((one) => one !== '');

/** Whether the client wants the person to agree each time (OpenID Connect Core §3.1.2.1). */
export const mustAgree = (request: ClientRequest): boolean =>
  promptsOf(request).includes('consent');

export interface ClientAnswer {
  /** Where the browser goes, with a code or with the reason of a refusal. */
  readonly redirect_to?: string;
  readonly error?: string;
  readonly error_description?: string;
  readonly errors?: readonly string[];
}

/** Asks for a code with the session. @throws {ApiProblem} when the server cannot be reached */
export const askForCode = async (
  provider: string,
  { namespace = '', ...parameters }: ClientRequest,
): Promise<ClientAnswer> => {
  const path = `/v1/identity/oidc/provider/${encodeURIComponent(provider)}/authorize`;
  const answer = await request(path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...sessionHeaders(),
      ...(namespace !== '' && { 'x-service-namespace': namespace }),
    },
    body: JSON.stringify(parameters),
  });
  return (await answer.json()) as ClientAnswer;
};

/** Ends the session, if there is one, so that the page to sign in is shown. */
export const askToSignInAgain = (): void => {
  if (isSignedIn(readSession())) leaveSession('The application asks you to sign in again.');
};

/**
 * Prepares the session for a request: whoever is not signed in does so in its namespace.
 * @returns the request in place of one for which the person must sign in first, so that this is asked once
 */
export const enterForClient = (request: ClientRequest): ClientRequest | undefined => {
  const { prompt: _, ...others } = request;
  const prompts = promptsOf(request);
  const mustSignIn = prompts.includes('login');
  if (mustSignIn) askToSignInAgain();
  const session = readSession();
  const { namespace = '' } = request;
  if (!isSignedIn(session) && session.namespace !== namespace)
    changeSession({ ...session, namespace });
  const rest = prompts.filter((one) => one !== 'login').join(' ');
  return mustSignIn ? { ...others, ...(rest !== '' && { prompt: rest }) } : undefined;
};
