import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction, useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type OneDocument } from '../api/workspaces-api.ts';
import { ActionButton, fieldsOf } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Callout } from '../components/callout.tsx';
import { workspacesCurl } from '../components/commands.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { FormActions, Input, Label } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Problem } from '../components/page.tsx';
import { Secret } from '../components/secret.tsx';
import { Code } from '../components/text.tsx';
import { QrCode } from './qr-code.tsx';

type TwoFactor = ResourceAttributes['two-factors'];

const PATH = 'account/two-factor';

const bodyOf = (attributes: object): object => ({ data: { type: 'two-factors', attributes } });

const post = (action: string, attributes: object) =>
  callWorkspaces<OneDocument<TwoFactor>>('POST', `${PATH}${action}`, { body: bodyOf(attributes) });

/** A passcode has digits alone; a recovery code has letters too. */
const factorOf = (code: string): object =>
  /^\d{1,8}$/.test(code) ? { passcode: code } : { 'recovery-code': code };

const RecoveryCodes = ({ codes }: { codes: readonly string[] }) => (
  <Callout role="status" aria-label="Recovery codes">
    <p>
      These recovery codes are shown now and never again. Keep them apart from your authenticator
      app: each stands in for one passcode when the app is lost.
    </p>
    <ul>
      {codes.map((code) => (
        <li key={code}>
          <Code>{code}</Code>
        </li>
      ))}
    </ul>
    <CopyButton text={codes.join('\n')} label="Copy the recovery codes" />
  </Callout>
);

/** The key for the app, and the first passcode that proves that the app has it. */
const Enrolment = (props: {
  secret: string;
  address: string;
  onVerified: (codes: readonly string[]) => void;
}) => {
  const action = useAction(
    (passcode: string) => post('/actions/verify', { passcode }),
    ({ data }) => props.onVerified(data.attributes['recovery-codes'] ?? []),
  );
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    action.run(fieldsOf(event.currentTarget).text('passcode').trim());
  };
  return (
    <form onSubmit={submit} aria-label="Verify the app">
      {action.error !== null && <Problem>The passcode {messageOf(action.error)}</Problem>}
      <p>Scan the picture with your authenticator app, or type the key into it.</p>
      <QrCode text={props.address} label="The key as a QR code" />
      <p>
        <Secret>{props.secret}</Secret> <CopyButton text={props.secret} label="Copy the key" />
      </p>
      <Label>
        Passcode that the app shows
        <Input
          name="passcode"
          inputMode="numeric"
          autoComplete="one-time-code"
          pattern="[0-9]*"
          maxLength={8}
          required
        />
      </Label>
      <Button type="submit" look="primary" disabled={action.isPending}>
        Turn it on
      </Button>
    </form>
  );
};

const Begin = (props: { onBegun: (attributes: TwoFactor) => void }) => {
  const action = useAction(
    (password: string) => post('', { 'current-password': password }),
    ({ data }) => props.onBegun(data.attributes),
  );
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    action.run(fieldsOf(event.currentTarget).text('password'));
  };
  return (
    <form onSubmit={submit} aria-label="Set up two-factor authentication">
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <p>
        With two-factor authentication, a sign-in with your password also asks for a passcode of an
        authenticator app. Organizations may require it.
      </p>
      <Label>
        Password of your account
        <Input name="password" type="password" autoComplete="current-password" required />
      </Label>
      <Button type="submit" disabled={action.isPending}>
        Set it up
      </Button>
    </form>
  );
};

const CodeField = () => (
  <Label>
    Passcode or recovery code
    <Input name="code" autoComplete="one-time-code" maxLength={64} required />
  </Label>
);

const leftOf = (codes: number): string =>
  `${codes} of your recovery ${codes === 1 ? 'codes is' : 'codes are'}`;

const FactorActions = (props: { onRenewed: (codes: readonly string[] | undefined) => void }) => (
  <FormActions>
    <ActionButton
      label="Replace recovery codes"
      title="Replace the recovery codes?"
      confirm="Replace them"
      act={async ({ text }) => {
        const { data } = await post('/actions/renew-recovery-codes', factorOf(text('code').trim()));
        props.onRenewed(data.attributes['recovery-codes']);
      }}
      commands={[
        workspacesCurl('POST', `${PATH}/actions/renew-recovery-codes`, bodyOf({ passcode: '…' })),
      ]}
    >
      <p>The codes that you have now open nothing any more.</p>
      <CodeField />
    </ActionButton>
    <ActionButton
      label="Turn it off"
      title="Turn two-factor authentication off?"
      confirm="Turn it off"
      tone="danger"
      act={({ text }) =>
        post('/actions/disable', {
          ...factorOf(text('code').trim()),
          'current-password': text('password'),
        })
      }
      onDone={() => props.onRenewed(undefined)}
      commands={[
        workspacesCurl(
          'POST',
          `${PATH}/actions/disable`,
          bodyOf({ 'current-password': '…', passcode: '…' }),
        ),
      ]}
    >
      <p>Your password alone signs in then. Organizations that require it keep you out.</p>
      <Label>
        Password of your account
        <Input name="password" type="password" autoComplete="current-password" required />
      </Label>
      <CodeField />
    </ActionButton>
  </FormActions>
);

/** Sets two-factor authentication up, renews its recovery codes, and turns it off. */
export const TwoFactorCard = ({ mayChange }: { mayChange: boolean }) => {
  const query = useDocument<OneDocument<TwoFactor>>(PATH);
  const [begun, setBegun] = useState<TwoFactor>();
  const [codes, setCodes] = useState<readonly string[]>();
  return (
    <Card title="Two-factor authentication">
      <Loaded query={query}>
        {({ data: { attributes } }) => (
          <>
            {codes !== undefined && <RecoveryCodes codes={codes} />}
            {attributes.enabled && (
              <p>It is on. {leftOf(attributes['recovery-codes-left'])} left.</p>
            )}
            {attributes.enabled && mayChange && <FactorActions onRenewed={setCodes} />}
            {!attributes.enabled && mayChange && begun === undefined && (
              <Begin onBegun={setBegun} />
            )}
            {!attributes.enabled && mayChange && begun !== undefined && (
              <Enrolment
                secret={begun.secret ?? ''}
                address={begun['provisioning-url'] ?? ''}
                onVerified={(given) => {
                  setBegun(undefined);
                  setCodes(given);
                }}
              />
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
};
