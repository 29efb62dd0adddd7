/**
 * How a client with a key pair gets its token from Bitbucket Data Center ("application link", OAuth 1.0a).
 * https://developer.atlassian.com/server/bitbucket/how-tos/example-basic-authentication/,
 * https://www.rfc-editor.org/rfc/rfc5849#section-2
 */
import { RepositoryFailure } from '@keelson/repositories';
import type { OAuthClient, RequestSigning } from '../../workspaces/model/domain/oauth-client.ts';
import { serverOf } from '../providers/bitbucket-server.ts';
import { trimUrl } from '../providers/payloads.ts';
import type { ProviderRequest } from '../providers/provider.ts';
import { toAuthorization } from '../providers/request-signature.ts';

const MAX_TOKEN_LENGTH = 1024;

const signed = (
  { apiUrl }: Pick<OAuthClient, 'apiUrl'>,
  signing: RequestSigning,
  name: string,
  token: string | undefined,
  parameters: Readonly<Record<string, string>>,
): ProviderRequest => {
  const url = `${serverOf({ apiUrl })}/plugins/servlet/oauth/${name}`;
  const request = { method: 'POST', url } as const;
  return {
    ...request,
    headers: { authorization: toAuthorization(signing, token, request, parameters) },
  };
};

export const requestTokenRequest = (
  client: OAuthClient,
  signing: RequestSigning,
  callbackUrl: string,
): ProviderRequest =>
  signed(client, signing, 'request-token', undefined, { oauth_callback: callbackUrl });

export const accessTokenRequest = (
  client: OAuthClient,
  signing: RequestSigning,
  requestToken: string,
  verifier: string,
): ProviderRequest =>
  signed(client, signing, 'access-token', requestToken, { oauth_verifier: verifier });

/** The page of the provider on which a person allows the access. */
export const authorizeUrl = ({ httpUrl }: OAuthClient, requestToken: string): string => {
  const query = new URLSearchParams({ oauth_token: requestToken });
  return `${trimUrl(httpUrl)}/plugins/servlet/oauth/authorize?${query.toString()}`;
};

/** The token in an answer. @throws RepositoryFailure if there is none */
export const tokenOf = (form: URLSearchParams): string => {
  const token = form.get('oauth_token') ?? '';
  if (token !== '' && token.length <= MAX_TOKEN_LENGTH) return token;
  throw new RepositoryFailure('the provider answered without an oauth_token');
};

/**
 * The token of an attempt. A provider that does not confirm the address follows the first edition of the
 * protocol, in which anybody could end the attempt of another (RFC 5849, section 2.1).
 * @throws RepositoryFailure
 */
export const requestTokenOf = (form: URLSearchParams): string => {
  if (form.get('oauth_callback_confirmed') === 'true') return tokenOf(form);
  throw new RepositoryFailure('the provider did not confirm the callback address (OAuth 1.0a)');
};
