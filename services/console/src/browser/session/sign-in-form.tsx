import { useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { changeSession, readSession, useSession } from '../api/session.ts';
import { Problem } from '../components/page.tsx';
import { PasscodeForm } from './passcode-form.tsx';
import { PasswordForm } from './password-form.tsx';
import type { OnFactor, SecondFactor } from './second-factor.ts';
import { leaveForProvider, type SignInMethod, useSignInMethods } from './sign-in-methods.ts';
import { TokenForm } from './token-form.tsx';

const trimmedPath = (path: string): string => path.trim().replaceAll(/^\/+|(?<!\/)\/+$/g, '');

const NamespaceField = (props: { namespace: string }) => (
  <label>
    Namespace (empty: root)
    <input
      name="namespace"
      autoComplete="off"
      defaultValue={props.namespace}
      onBlur={({ target }) =>
        changeSession({ ...readSession(), namespace: trimmedPath(target.value) })
      }
    />
  </label>
);

const ProviderButton = (props: { method: SignInMethod }) => {
  const { method } = props;
  const action = useAction(() => leaveForProvider(method));
  return (
    <>
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <button type="button" disabled={action.isPending} onClick={() => action.run()}>
        Continue with {method.title}
      </button>
    </>
  );
};

/** The methods that are offered here, those for most people first, and a token last. */
const OfferedMethods = (props: { namespace: string; onFactor: OnFactor }) => {
  const { namespace, onFactor } = props;
  const { data: methods, isPending } = useSignInMethods(namespace);
  const [wantsToken, setWantsToken] = useState(false);
  // A form that appears first and moves down would take what is typed.
  if (isPending) return <p role="status">The ways to sign in are being read.</p>;
  const providers = methods?.filter(({ type }) => type === 'oidc') ?? [];
  const [first, ...others] = methods?.filter(({ type }) => type !== 'oidc') ?? [];
  const hasOthers = providers.length > 0 || first !== undefined;
  return (
    <div className="ways">
      {providers.map((method) => (
        <ProviderButton key={method.path} method={method} />
      ))}
      {first !== undefined && <PasswordForm methods={[first, ...others]} onFactor={onFactor} />}
      {hasOthers && !wantsToken && (
        <button type="button" onClick={() => setWantsToken(true)}>
          Sign in with a token
        </button>
      )}
      {/* It stays while another namespace is read, because its field may already have a token. */}
      <div hidden={hasOthers && !wantsToken} onInput={() => setWantsToken(true)}>
        <TokenForm />
      </div>
    </div>
  );
};

/** @param props.withNamespace whether the session is to open certificates and administration, in a namespace */
export const SignInForm = (props: { withNamespace: boolean }) => {
  const { namespace } = useSession();
  const [factor, setFactor] = useState<SecondFactor>();
  if (!props.withNamespace) return <TokenForm />;
  if (factor !== undefined)
    return (
      <div className="ways">
        <PasscodeForm factor={factor} />
        <button type="button" onClick={() => setFactor(undefined)}>
          Sign in as somebody else
        </button>
      </div>
    );
  return (
    <>
      <NamespaceField namespace={namespace} />
      <OfferedMethods namespace={namespace} onFactor={setFactor} />
    </>
  );
};
