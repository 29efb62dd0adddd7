/** Sign-in to the workspace API at the provider of identities of the site. */
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type OneDocument } from '../api/workspaces-api.ts';
import { enterAccount } from './account-sign-in.ts';
import { type ProviderAnswer, randomText, requireWebAddress } from './sign-in-methods.ts';

/** Where the provider sends the browser back to. */
export const SSO_RETURN_PATH = '/app/sign-in/return';

const KEY = 'keelson-sso-login';

/** A sign-in that has left for the provider. */
interface LeftLogin {
  /** Proves to the server that the sign-in was begun in this tab. */
  readonly clientNonce: string;
  /** Page to show after it. */
  readonly returnTo: string;
}

const bodyOf = (attributes: object): object => ({ data: { type: 'sso-logins', attributes } });

/** This tab remembers the sign-in, and another address of the installation has not this memory. */
const requireThisAddress = (address: string): void => {
  const back = new URL(address).searchParams.get('redirect_uri') ?? '';
  if (new URL(back).origin !== location.origin)
    throw new Error(`open the console at ${new URL(back).origin}, to which the provider returns`);
};

/**
 * Sends the browser to the provider.
 * @param returnTo page to show after it
 * @throws {ApiProblem} when the site has none that can be reached
 */
export const leaveForSingleSignOn = async (
  returnTo = location.pathname + location.search,
): Promise<void> => {
  const clientNonce = randomText();
  const { data } = await callWorkspaces<OneDocument<ResourceAttributes['sso-logins']>>(
    'POST',
    'sso-logins',
    { token: '', body: bodyOf({ 'client-nonce': clientNonce }) },
  );
  const address = requireWebAddress(data.attributes['authorization-url']);
  requireThisAddress(address);
  const left: LeftLogin = { clientNonce, returnTo };
  sessionStorage.setItem(KEY, JSON.stringify(left));
  location.assign(address);
};

/** @returns the page to show; @throws an Error that says what the provider or the site has refused */
export const finishSingleSignOn = async (answer: ProviderAnswer): Promise<string> => {
  const kept = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  if (kept === null)
    throw new Error('this tab has not begun to sign in, or has ended to do so already');
  if (answer.error !== undefined)
    throw new Error(`the provider has refused: ${answer.error_description ?? answer.error}`);
  const { clientNonce, returnTo } = JSON.parse(kept) as LeftLogin;
  const { data } = await callWorkspaces<OneDocument<ResourceAttributes['sessions']>>(
    'POST',
    'sso-logins/actions/finish',
    {
      token: '',
      body: bodyOf({
        'client-nonce': clientNonce,
        state: answer.state ?? '',
        code: answer.code ?? '',
        iss: answer.iss ?? '',
      }),
    },
  );
  await enterAccount(data.attributes.token ?? '');
  return returnTo;
};
