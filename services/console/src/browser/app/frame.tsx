/** The frame of every page: navigation, current location and session. */
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { isSignedIn, useSession } from '../api/session.ts';
import { Notices } from '../components/notices.tsx';
import { Card, Page } from '../components/page.tsx';
import { ShownMessages } from '../messages/shown-messages.tsx';
import { hindranceOf } from '../session/cluster-health.ts';
import { FaultsBanner } from '../session/faults-banner.tsx';
import { SignInForm } from '../session/sign-in-form.tsx';
import { SignInPage } from '../session/sign-in-page.tsx';
import { leaveSession } from '../session/sign-out.ts';
import { useHealth } from '../session/use-health.ts';
import { NamespaceSwitch } from './namespace-switch.tsx';
import { Navigation } from './navigation.tsx';
import { PageAnnouncer } from './page-announcer.tsx';
import { LINK_PATHS, tokenNeededBy } from './screens.ts';
import { SearchButton } from './search.tsx';

const NeedsToken = ({ kind }: { kind: 'secrets' | 'workspaces' }) => (
  <Page title="Add another token">
    <Card>
      <p>
        {kind === 'workspaces'
          ? 'Workspaces belong to another API than the one you are signed in to: sign in to it to go on.'
          : 'Certificates and administration belong to another API than the one you are signed in to: sign in to it to go on.'}
      </p>
      <SignInForm needs={kind} />
    </Card>
  </Page>
);

const Header = (props: { isMenuOpen: boolean; onMenu: () => void }) => {
  const { data: health } = useHealth();
  const { secrets, person } = useSession();
  return (
    <header className="top">
      <button
        type="button"
        className="menu-button"
        aria-expanded={props.isMenuOpen}
        aria-controls="navigation"
        onClick={props.onMenu}
      >
        Menu
      </button>
      <Link to="/ui/" className="brand">
        <img src="/ui/keelson.svg" alt="" width="26" height="26" />
        <span>Keelson</span>
      </Link>
      <span className="cluster-name">
        {health?.cluster_name} {health !== undefined && <small>{health.version}</small>}
      </span>
      <span className="space" />
      <SearchButton />
      {secrets !== undefined && <NamespaceSwitch />}
      {person !== undefined && <span className="person">{person}</span>}
      <button type="button" className="plain" onClick={() => leaveSession()}>
        Sign out
      </button>
    </header>
  );
};

/** The page at the address, or the sign-in page when nobody is signed in or the cluster cannot be used. */
const Shown = () => {
  const session = useSession();
  const { data: health } = useHealth();
  const { pathname } = useLocation();
  // The page on which the menu of a narrow screen was opened; another page closes it.
  const [menuAt, setMenuAt] = useState<string>();
  // Its reader has no account yet; the code of the link is the credential.
  if (LINK_PATHS.includes(pathname)) return <Outlet />;
  if (!isSignedIn(session) || (health !== undefined && hindranceOf(health) !== undefined))
    return <SignInPage />;
  const needed = tokenNeededBy(pathname);
  const isMenuOpen = menuAt === pathname;
  return (
    <>
      <PageAnnouncer />
      <a className="skip" href="#content">
        Skip to the page
      </a>
      <Header isMenuOpen={isMenuOpen} onMenu={() => setMenuAt(isMenuOpen ? undefined : pathname)} />
      <div className="frame">
        <div id="navigation" className={isMenuOpen ? 'side open' : 'side'}>
          <div className="side-inner">
            <Navigation />
          </div>
        </div>
        <div className="content">
          {session.secrets !== undefined && (
            <>
              <FaultsBanner />
              <ShownMessages key="after" isSignedIn />
            </>
          )}
          <main id="content" tabIndex={-1}>
            {needed !== undefined && session[needed] === undefined ? (
              <NeedsToken kind={needed} />
            ) : (
              <Outlet />
            )}
          </main>
        </div>
      </div>
    </>
  );
};

export const Frame = () => (
  <>
    <Shown />
    <Notices />
  </>
);
