/** The mail address of an account, to which links for a new password and invitations are sent. */
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type OneDocument } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { workspacesCurl } from '../components/commands.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Card } from '../components/page.tsx';
import type { PasskeyQuestions } from '../session/account-passkey.ts';
import { presentPasskey } from '../session/passkey.ts';

const PATH = 'account/update';

const bodyOf = (attributes: object): object => ({ data: { type: 'users', attributes } });

/** A passkey proves the person of an account without a password. */
const confirmation = async (): Promise<object> => {
  const path = 'account/passkeys/actions/confirm';
  const { data } = await callWorkspaces<OneDocument<PasskeyQuestions>>('POST', path);
  const question = data.attributes['sign-in'];
  return question === null ? {} : { confirmation: await presentPasskey(question) };
};

const ChangeAddress = ({ hasPasskeys }: { hasPasskeys: boolean }) => {
  const change = async (address: string, password: string): Promise<void> => {
    const byPasskey = password === '' && hasPasskeys ? await confirmation() : {};
    const proof = password === '' ? byPasskey : { 'current-password': password };
    await callWorkspaces('PATCH', PATH, { body: bodyOf({ email: address, ...proof }) });
  };
  return (
    <ActionButton
      label="Change"
      name="Change the mail address"
      title="Change the mail address"
      confirm="Change it"
      act={({ text }) => change(text('email').trim(), text('password'))}
      commands={[workspacesCurl('PATCH', PATH, bodyOf({ email: '…' }))]}
    >
      <p>
        The new address counts once the link is followed that is sent to it, within 7 days. The
        present one gets a mail as well.
      </p>
      <Label>
        New mail address
        <Input name="email" type="email" required maxLength={255} autoComplete="email" />
      </Label>
      <Label>
        Your password (empty, if you have none)
        <Input name="password" type="password" autoComplete="current-password" />
      </Label>
    </ActionButton>
  );
};

export const MailAddressCard = (props: {
  account: Pick<ResourceAttributes['users'], 'email' | 'unconfirmed-email' | 'permissions'>;
  /** Whether people sign in to the site with passkeys. */
  hasPasskeys: boolean;
}) => {
  const { email = '', 'unconfirmed-email': waiting, permissions } = props.account;
  const mayChange = permissions['can-change-email'] === true;
  return (
    <Card
      title="Mail address"
      actions={mayChange ? <ChangeAddress hasPasskeys={props.hasPasskeys} /> : undefined}
    >
      <p>
        {email}
        {typeof waiting === 'string' && `, until the link that was sent to ${waiting} is followed`}
      </p>
    </Card>
  );
};
