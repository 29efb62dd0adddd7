/** The frame of every page: whatever the address shows to whoever has signed in or not. */
import { Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { isSignedIn, readSession, useSession } from '../api/session.ts';
import { Notices } from '../components/notices.tsx';
import { hindranceOf } from '../session/cluster-health.ts';
import { SignInPage } from '../session/sign-in-page.tsx';
import { useHealth } from '../session/use-health.ts';
import styles from './frame.module.css';
import { LINK_PATHS } from './screens.ts';

const loadSignedIn = () => import('./signed-in-frame.tsx');

// At the same time as the page, which the router loads.
if (isSignedIn(readSession())) void loadSignedIn();

const SignedInFrame = lazy(async () => ({ default: (await loadSignedIn()).SignedInFrame }));

/** The page at the address, or the sign-in page when nobody is signed in or the cluster cannot be used. */
const Shown = () => {
  const session = useSession();
  const { data: health } = useHealth();
  const { pathname } = useLocation();
  // Its reader has no account yet; the code of the link is the credential.
  if (LINK_PATHS.includes(pathname)) return <Outlet />;
  if (!isSignedIn(session) || (health !== undefined && hindranceOf(health) !== undefined))
    return <SignInPage />;
  return (
    <Suspense>
      <SignedInFrame />
    </Suspense>
  );
};

export const Frame = () => (
  <>
    <div className={styles['window']}>
      <Shown />
    </div>
    <Notices />
  </>
);
