/** Sign-in to the workspace API with a passkey, which its person chooses in the browser. */
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type OneDocument } from '../api/workspaces-api.ts';
import { enterAccount } from './account-sign-in.ts';
import {
  makePasskey,
  type NewPasskeyQuestion,
  type PasskeyQuestion,
  presentPasskey,
} from './passkey.ts';

/** The questions of the server, for the functions of the browser. */
export interface PasskeyQuestions {
  readonly 'sign-in': PasskeyQuestion | null;
  readonly registration: NewPasskeyQuestion | null;
}

type Signed = ResourceAttributes['sessions'];

/** @throws an Error in the words of the browser or the server */
export const signInWithPasskey = async (): Promise<void> => {
  const token = '';
  const path = 'passkey-challenges';
  const begun = await callWorkspaces<OneDocument<PasskeyQuestions>>('POST', path, { token });
  const question = begun.data.attributes['sign-in'];
  if (question === null) throw new Error('The server has asked for no passkey.');
  const credential = await presentPasskey(question);
  const { data } = await callWorkspaces<OneDocument<Signed>>('POST', `${path}/actions/sign-in`, {
    token,
    body: { data: { type: 'passkey-challenges', attributes: { credential } } },
  });
  await enterAccount(data.attributes.token ?? '');
};

/**
 * Accepts an invitation with a passkey for the account, which signs in.
 * @param token the code of the link
 * @throws an Error in the words of the browser or the server
 */
export const acceptWithPasskey = async (token: string): Promise<void> => {
  const path = 'invitation/actions';
  const begun = await callWorkspaces<OneDocument<PasskeyQuestions>>(
    'POST',
    `${path}/begin-passkey`,
    { token },
  );
  const question = begun.data.attributes.registration;
  if (question === null) throw new Error('The server has asked for no passkey.');
  const credential = await makePasskey(question);
  const { data } = await callWorkspaces<OneDocument<Signed>>('POST', `${path}/add-passkey`, {
    token,
    body: { data: { type: 'invitations', attributes: { name: 'first passkey', credential } } },
  });
  await enterAccount(data.attributes.token ?? '');
};
