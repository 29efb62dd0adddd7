/** The account of whoever uses the workspace API: mail address, password, two-factor authentication, and sessions. */
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { OneDocument } from '../api/workspaces-api.ts';
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

export const AccountPage = () => {
  const query = useDocument<OneDocument<ResourceAttributes['users']>>('account/details');
  const methods = useAccountMethods();
  const hasPasskeys = methods.data?.passkey === true;
  const hasProvider = typeof methods.data?.['single-sign-on'] === 'string';
  const signsIn = methods.data?.password === true || hasPasskeys || hasProvider;
  return (
    <Page title="Account" lead="How you sign in to the workspace API, and where you are signed in.">
      <Loaded query={query}>
        {({ data }) => (
          <>
            {signsIn && !data.attributes['is-service-account'] && (
              <MailAddressCard account={data.attributes} hasPasskeys={hasPasskeys} />
            )}
            {methods.data?.password === true && !data.attributes['is-service-account'] && (
              <>
                <PasswordCard username={data.attributes.username} />
                <TwoFactorCard />
              </>
            )}
            {hasPasskeys && !data.attributes['is-service-account'] && <PasskeysCard />}
            {!data.attributes['is-service-account'] && <SessionsCard />}
            <OwnTokensCard />
          </>
        )}
      </Loaded>
      <Commands commands={[workspacesCurl('GET', 'account/details')]} />
    </Page>
  );
};
