/** The account of whoever uses the workspace API: mail address, password, two-factor authentication, and sessions. */
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { OneDocument } from '../api/workspaces-api.ts';
import { Callout } from '../components/callout.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Page } from '../components/page.tsx';
import { useAccountMethods } from '../session/account-sign-in.ts';
import { OwnTokensCard } from '../tokens/own-tokens-card.tsx';
import { MailAddressCard } from './mail-address-card.tsx';
import { PasskeysCard } from './passkeys-card.tsx';
import { PasswordCard } from './password-card.tsx';
import { SessionsCard } from './sessions-card.tsx';
import { TwoFactorCard } from './two-factor-card.tsx';

type Methods = ResourceAttributes['sign-in-methods'];

/** The parts of the account. A session is offered nothing that the server would refuse. */
const OwnCards = (props: {
  account: ResourceAttributes['users'];
  methods: Methods | undefined;
}) => {
  const { account, methods } = props;
  const { permissions, 'two-factor': twoFactor } = account;
  const hasPasskeys = methods?.passkey === true;
  const hasPasswords = methods?.password === true;
  const signsIn = hasPasswords || hasPasskeys || typeof methods?.['single-sign-on'] === 'string';
  const isSignedIn = permissions['can-change-passkeys'] === true;
  const mayChangeFactor = permissions['can-change-two-factor'] === true;
  return (
    <>
      {signsIn && !isSignedIn && (
        <Callout role="note">
          You use an API token. To change the mail address, two-factor authentication or passkeys,
          sign in as the person of the account.
        </Callout>
      )}
      {signsIn && <MailAddressCard account={account} hasPasskeys={hasPasskeys} />}
      {hasPasswords && (
        <PasswordCard
          username={account.username}
          hasPassword={permissions['can-change-password'] === true}
          hasReset={methods['password-reset']}
        />
      )}
      {hasPasswords && (mayChangeFactor || twoFactor?.enabled === true) && (
        <TwoFactorCard mayChange={mayChangeFactor} />
      )}
      {hasPasskeys && <PasskeysCard mayChange={isSignedIn} />}
      <SessionsCard isSignedIn={isSignedIn} />
    </>
  );
};

export const AccountPage = () => {
  const query = useDocument<OneDocument<ResourceAttributes['users']>>('account/details');
  const methods = useAccountMethods();
  return (
    <Page title="Account" lead="How you sign in to the workspace API, and where you are signed in.">
      <Loaded query={query}>
        {({ data: { attributes } }) => (
          <>
            {!attributes['is-service-account'] && (
              <OwnCards account={attributes} methods={methods.data} />
            )}
            <OwnTokensCard />
          </>
        )}
      </Loaded>
      <Commands commands={[workspacesCurl('GET', 'account/details')]} />
    </Page>
  );
};
