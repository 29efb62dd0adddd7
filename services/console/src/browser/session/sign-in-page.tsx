import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useSession } from '../api/session.ts';
import { Announcements } from '../components/banners.tsx';
import { Callout } from '../components/callout.tsx';
import { useTitle } from '../components/page.tsx';
import { ShownMessages } from '../messages/shown-messages.tsx';
import { hindranceOf } from './cluster-health.ts';
import { FaultsBanner } from './faults-banner.tsx';
import { InitWizard } from './init-wizard.tsx';
import { LoginCard } from './login-card.tsx';
import { SignInForm } from './sign-in-form.tsx';
import styles from './sign-in-page.module.css';
import { UnsealForm } from './unseal-form.tsx';
import { useHealth } from './use-health.ts';

// Loaded on demand, as few sign-ins need it.
const ReplicationStatus = lazy(async () => {
  const page = await import('../replication/replication-page.tsx');
  return { default: page.ReplicationStatus };
});

const OperationTokenSteps = lazy(async () => {
  const steps = await import('../replication/operation-token.tsx');
  return { default: steps.OperationTokenSteps };
});

const FirstTokenSteps = lazy(async () => {
  const steps = await import('../replication/operation-token.tsx');
  return { default: steps.FirstTokenSteps };
});

/** The page before sign-in: the reason it is shown, and the form for the next step. */
export const SignInPage = () => {
  useTitle('Sign in');
  const { endedBecause } = useSession();
  const { data: health, isError } = useHealth();
  const [hasNewKeys, setNewKeys] = useState(false);
  const hindrance = health && !hasNewKeys ? hindranceOf(health) : undefined;
  const form = (): ReactNode => {
    if (hasNewKeys || health?.initialized === false)
      return <InitWizard onMade={() => setNewKeys(true)} onKept={() => setNewKeys(false)} />;
    return health?.sealed === true ? <UnsealForm /> : <SignInForm />;
  };
  return (
    <>
      <LoginCard
        title={
          <>
            <img src="/ui/keelson.svg" alt="" width="32" height="32" /> Keelson
          </>
        }
      >
        {isError && (
          <Callout role="note">The server cannot be reached. The page goes on trying.</Callout>
        )}
        {!isError && hindrance !== undefined && <Callout role="note">{hindrance}</Callout>}
        {endedBecause !== undefined && <Callout role="status">{endedBecause}</Callout>}
        {form()}
        {health !== undefined && (
          <p className={styles['cluster']}>
            {health.cluster_name ?? 'Cluster'} · Keelson {health.version}
          </p>
        )}
      </LoginCard>
      {health?.replication_performance_mode === 'secondary' && health.sealed === false && (
        <section className={styles['page']} aria-label="First token">
          <Suspense>
            <FirstTokenSteps />
          </Suspense>
        </section>
      )}
      {health?.replication_dr_mode === 'secondary' && (
        <section className={styles['page']} aria-label="Replication">
          <Suspense>
            <OperationTokenSteps />
            <ReplicationStatus />
          </Suspense>
        </section>
      )}
      <Announcements>
        <FaultsBanner />
        <ShownMessages key="before" isSignedIn={false} />
      </Announcements>
    </>
  );
};
