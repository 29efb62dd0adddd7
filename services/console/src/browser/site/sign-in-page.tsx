/** How people sign in to the site: with passwords, and at a provider of identities. */
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { OneDocument, Resource } from '../api/workspaces-api.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Input, Label, Pair, TextArea } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty, Page } from '../components/page.tsx';
import { Code, Hint } from '../components/text.tsx';
import { Choice } from '../editing/choice.tsx';
import { EditForm } from '../editing/edit-form.tsx';
import { workspaceTarget } from '../editing/edit-target.ts';
import { Fault } from '../editing/faults.tsx';

type Settings = ResourceAttributes['sign-in-settings'];
type Provider = ResourceAttributes['sso-settings'];

const SETTINGS = 'admin/sign-in-settings';
const PROVIDER = 'admin/sso-settings';

const settingsOf = ({ attributes }: Resource<Settings>) => ({
  'passwords-enabled': attributes['passwords-enabled'],
  'passkeys-enabled': attributes['passkeys-enabled'],
  'session-minutes': String(attributes['session-minutes']),
});

const Passwords = ({ settings }: { settings: Resource<Settings> }) => (
  <Card title="Passwords, passkeys and sessions">
    <EditForm
      edits="sign-in-settings"
      label="Passwords, passkeys and sessions"
      save="Save passwords, passkeys and sessions"
      hasFaults
      document={settings}
      target={workspaceTarget<Settings>(SETTINGS, 'sign-in-settings')}
      valuesOf={settingsOf}
      bodyOf={({ 'session-minutes': minutes, ...changed }) => ({
        attributes: {
          ...changed,
          ...(minutes !== undefined && { 'session-minutes': Number(minutes) }),
        },
      })}
      fields={(values) => (
        <>
          <Choice name="passwords-enabled" isTicked={values['passwords-enabled']}>
            People sign in with a password of their own
          </Choice>
          <Hint>
            They set it by the link of an invitation or of a mail. Without the tick, sessions that
            began with a password end at once.
          </Hint>
          <Choice name="passkeys-enabled" isTicked={values['passkeys-enabled']}>
            People sign in with a passkey
          </Choice>
          <Hint>
            They make it by the link of an invitation or on their account's page. Without the tick,
            sessions that began with a passkey end at once.
          </Hint>
          <Label>
            Minutes from a sign-in to its end
            <Input
              name="session-minutes"
              type="number"
              min={5}
              max={129_600}
              required
              defaultValue={values['session-minutes']}
            />
            <Fault of="session-minutes" />
          </Label>
        </>
      )}
    />
  </Card>
);

/** The fields are named as the attributes. The secret is written and never read. */
const providerOf = ({ attributes }: Resource<Provider>) => ({
  enabled: attributes.enabled,
  title: attributes.title,
  issuer: attributes.issuer,
  'client-id': attributes['client-id'],
  'client-secret': '',
  'ca-certificates': attributes['ca-certificates'] ?? '',
  scopes: attributes.scopes.join(' '),
  'username-claim': attributes['username-claim'],
  'groups-claim': attributes['groups-claim'] ?? '',
  'creates-users': attributes['creates-users'],
  'links-users': attributes['links-users'],
  'joins-organizations': attributes['joins-organizations'],
  'two-factor': attributes['two-factor'],
});

type ProviderValues = ReturnType<typeof providerOf>;

const bodyOf = ({ scopes, ...changed }: Partial<ProviderValues>) => ({
  attributes: {
    ...changed,
    ...(scopes !== undefined && { scopes: scopes.split(/\s+/).filter(Boolean) }),
  },
});

const Text = (props: {
  name: 'title' | 'issuer' | 'client-id' | 'username-claim' | 'groups-claim' | 'scopes';
  label: string;
  values: ProviderValues;
}) => (
  <Label>
    {props.label}
    <Input name={props.name} autoComplete="off" defaultValue={props.values[props.name]} />
    <Fault of={props.name} />
  </Label>
);

const ProviderFields = (props: { values: ProviderValues; hasSecret: boolean }) => {
  const { values, hasSecret } = props;
  return (
    <>
      <Choice name="enabled" isTicked={values.enabled}>
        People sign in at the provider
      </Choice>
      <Pair>
        <Text name="title" values={values} label="Name by which people know it" />
        <Text name="issuer" values={values} label="Issuer, as the provider names itself" />
      </Pair>
      <Pair>
        <Text name="client-id" values={values} label="Client ID" />
        <Label>
          {hasSecret
            ? 'Client secret (empty: the stored one stays, unless the issuer is another one)'
            : 'Client secret'}
          <Input
            name="client-secret"
            type="password"
            autoComplete="new-password"
            maxLength={1024}
            defaultValue=""
          />
          <Fault of="client-secret" />
        </Label>
      </Pair>
      <Pair>
        <Text name="username-claim" values={values} label="Claim with the user name" />
        <Text name="groups-claim" values={values} label="Claim with the groups (empty: none)" />
      </Pair>
      <Text name="scopes" values={values} label="Further scopes, separated by spaces" />
      <Label>
        Certificates of its authority as PEM (empty: those of the system)
        <TextArea
          name="ca-certificates"
          rows={4}
          spellCheck={false}
          defaultValue={values['ca-certificates']}
        />
        <Fault of="ca-certificates" />
      </Label>
      <Choice name="creates-users" isTicked={values['creates-users']}>
        A person without an account gets one at the first sign-in
      </Choice>
      <Choice name="links-users" isTicked={values['links-users']}>
        A person signs in to the account that has the verified mail address
      </Choice>
      <Choice name="joins-organizations" isTicked={values['joins-organizations']}>
        Groups make a person a member of every organization whose teams name them
      </Choice>
      <Choice name="two-factor" isTicked={values['two-factor']}>
        The provider asks everybody for a second factor
      </Choice>
    </>
  );
};

const SingleSignOn = ({ provider }: { provider: Resource<Provider> }) => {
  const { issuer, 'redirect-uri': redirectUri } = provider.attributes;
  return (
    <Card title="Single sign-on">
      {issuer === '' && (
        <Empty>
          There is no provider yet. Register Keelson there as a client, and enter here what the
          provider shows.
        </Empty>
      )}
      {redirectUri === null ? (
        <p>
          Providers send people back to the public address of this site, which is not set:
          KEELSON_PUBLIC_URL.
        </p>
      ) : (
        <p>
          The provider must allow this address to send people back to: <Code>{redirectUri}</Code>{' '}
          <CopyButton text={redirectUri} label="Copy the address" />
        </p>
      )}
      <EditForm
        edits="sso-settings"
        label="Single sign-on"
        save="Save single sign-on"
        hasFaults
        document={provider}
        target={workspaceTarget<Provider>(PROVIDER, 'sso-settings')}
        valuesOf={providerOf}
        bodyOf={bodyOf}
        fields={(values, { attributes }) => (
          <ProviderFields values={values} hasSecret={attributes['has-client-secret']} />
        )}
      />
    </Card>
  );
};

export const SiteSignInPage = () => {
  const settings = useDocument<OneDocument<Settings>>(SETTINGS);
  const provider = useDocument<OneDocument<Provider>>(PROVIDER);
  return (
    <Page
      title="Sign-in"
      lead="How people come in to this site without a token that somebody has made for them."
    >
      <Loaded query={provider}>{({ data }) => <SingleSignOn provider={data} />}</Loaded>
      <Loaded query={settings}>{({ data }) => <Passwords settings={data} />}</Loaded>
    </Page>
  );
};
