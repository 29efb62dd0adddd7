import { useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { changeSession, readSession, type TokenKind, useSession } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Problem } from '../components/page.tsx';
import { AccountFactorForm } from './account-factor-form.tsx';
import { signInWithPasskey } from './account-passkey.ts';
import { type AccountFactor, useAccountMethods } from './account-sign-in.ts';
import { CertificateButton } from './certificate-button.tsx';
import { FactorForm } from './factor-form.tsx';
import { Ways } from './login-card.tsx';
import { PasswordForm } from './password-form.tsx';
import type { SecondFactor } from './second-factor.ts';
import {
  ACCOUNTS,
  leaveForProvider,
  type MountedMethod,
  type SignInMethod,
  useSignInMethods,
} from './sign-in-methods.ts';
import { leaveForSingleSignOn } from './single-sign-on.ts';
import { TokenForm } from './token-form.tsx';

const trimmedPath = (path: string): string => path.trim().replaceAll(/^\/+|(?<!\/)\/+$/g, '');

/** A sign-in that waits for a second factor, of either API. */
type Waiting =
  | { readonly api: 'secrets'; readonly factor: SecondFactor }
  | { readonly api: 'workspaces'; readonly factor: AccountFactor };

const NamespaceField = (props: { namespace: string }) => (
  <Label>
    Namespace (empty: root)
    <Input
      name="namespace"
      autoComplete="off"
      defaultValue={props.namespace}
      onBlur={({ target }) =>
        changeSession({ ...readSession(), namespace: trimmedPath(target.value) })
      }
    />
  </Label>
);

/** A way in that takes one click: a provider of identities, of either API, or a passkey. */
interface ProviderChoice {
  readonly key: string;
  readonly title: string;
  /** Sends the browser there, or has it ask its person. */
  readonly leave: () => Promise<void>;
}

const ProviderButton = (props: { provider: ProviderChoice }) => {
  const { title, leave } = props.provider;
  const action = useAction(leave);
  return (
    <>
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <Button disabled={action.isPending} onClick={() => action.run()}>
        Continue with {title}
      </Button>
    </>
  );
};

/** Without TLS, a browser shows no certificate. */
const hasCertificates = (): boolean => location.protocol === 'https:';

/** The given ways: providers first, then passwords and certificates, and a token last. */
const GivenWays = (props: {
  providers: readonly ProviderChoice[];
  methods: readonly SignInMethod[];
  certificates: readonly MountedMethod[];
  onWaiting: (waiting: Waiting) => void;
}) => {
  const { providers, methods, certificates, onWaiting } = props;
  const [wantsToken, setWantsToken] = useState(false);
  const [first, ...others] = methods;
  const hasOthers = providers.length > 0 || first !== undefined || certificates.length > 0;
  return (
    <Ways>
      {providers.map((provider) => (
        <ProviderButton key={provider.key} provider={provider} />
      ))}
      {first !== undefined && (
        <PasswordForm
          methods={[first, ...others]}
          onFactor={(factor) => factor && onWaiting({ api: 'secrets', factor })}
          onAccountFactor={(factor) => factor && onWaiting({ api: 'workspaces', factor })}
        />
      )}
      {certificates.map((method) => (
        <CertificateButton
          key={method.path}
          method={method}
          onFactor={(factor) => factor && onWaiting({ api: 'secrets', factor })}
        />
      ))}
      {hasOthers && !wantsToken && (
        <Button onClick={() => setWantsToken(true)}>Sign in with a token</Button>
      )}
      {/* It stays while another namespace is read, because its field may already have a token. */}
      <div hidden={hasOthers && !wantsToken} onInput={() => setWantsToken(true)}>
        <TokenForm />
      </div>
    </Ways>
  );
};

const READING = <p role="status">The ways to sign in are being read.</p>;

/** The ways into the given APIs. @param props.needs the only API that is wanted; undefined for either */
const OfferedWays = (props: {
  needs: TokenKind | undefined;
  namespace: string;
  onWaiting: (waiting: Waiting) => void;
}) => {
  const { needs, namespace, onWaiting } = props;
  const mounted = useSignInMethods(namespace, needs !== 'workspaces');
  const accounts = useAccountMethods();
  // A form that appears first and moves down would take what is typed.
  if ((needs !== 'workspaces' && mounted.isPending) || accounts.isPending) return READING;
  const ofAccounts = needs === 'secrets' ? undefined : accounts.data;
  const ofMounts = needs === 'workspaces' ? [] : (mounted.data ?? []);
  const sso = ofAccounts?.['single-sign-on'] ?? null;
  const providers: readonly ProviderChoice[] = [
    ...(sso === null ? [] : [{ key: '', title: sso, leave: () => leaveForSingleSignOn() }]),
    ...ofMounts
      .filter(({ type }) => type === 'oidc')
      .map((method) => ({
        key: method.path,
        title: method.title,
        leave: () => leaveForProvider(method),
      })),
    ...(ofAccounts?.passkey === true
      ? [{ key: 'passkey', title: 'a passkey', leave: signInWithPasskey }]
      : []),
  ];
  const methods: readonly SignInMethod[] = [
    ...(ofAccounts?.password === true
      ? [{ ...ACCOUNTS, hasReset: ofAccounts['password-reset'] }]
      : []),
    ...ofMounts.filter(({ type }) => type !== 'oidc' && type !== 'cert'),
  ];
  const certificates = hasCertificates() ? ofMounts.filter(({ type }) => type === 'cert') : [];
  return (
    <GivenWays
      providers={providers}
      methods={methods}
      certificates={certificates}
      onWaiting={onWaiting}
    />
  );
};

/** @param props.needs the API that the session is to open; undefined for either */
export const SignInForm = (props: { needs?: TokenKind }) => {
  const { needs } = props;
  const { namespace } = useSession();
  const [waiting, setWaiting] = useState<Waiting>();
  if (waiting !== undefined)
    return (
      <Ways>
        {waiting.api === 'secrets' ? (
          <FactorForm factor={waiting.factor} />
        ) : (
          <AccountFactorForm factor={waiting.factor} />
        )}
        <Button onClick={() => setWaiting(undefined)}>Sign in as somebody else</Button>
      </Ways>
    );
  return (
    <>
      {needs !== 'workspaces' && <NamespaceField namespace={namespace} />}
      <OfferedWays needs={needs} namespace={namespace} onWaiting={setWaiting} />
    </>
  );
};
