import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { Button } from '../components/button.tsx';
import { Problem } from '../components/page.tsx';
import { Hint } from '../components/text.tsx';
import type { OnFactor } from './second-factor.ts';
import { type MountedMethod, signInWithCertificate } from './sign-in-methods.ts';

/** Signs in with the certificate of the connection, which the browser has asked its user for. */
export const CertificateButton = (props: { method: MountedMethod; onFactor: OnFactor }) => {
  const { method, onFactor } = props;
  const action = useAction(async () => onFactor(await signInWithCertificate(method)));
  return (
    <>
      {action.error !== null && (
        <>
          <Problem>{messageOf(action.error)}</Problem>
          <Hint>
            A browser shows a certificate only when it connects. To choose another one, close its
            windows and open this page again.
          </Hint>
        </>
      )}
      <Button disabled={action.isPending} onClick={() => action.run()}>
        Continue with a certificate of {method.title}
      </Button>
    </>
  );
};
