/** The frame around every page for whoever has signed in, loaded when somebody has. */
import { Outlet, useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../api/session.ts';
import { Anchor } from '../components/anchor.tsx';
import { Announcements } from '../components/banners.tsx';
import { Button } from '../components/button.tsx';
import { classes } from '../components/classes.ts';
import { MainContent } from '../components/main-content.tsx';
import { Card, Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { Small } from '../components/text.tsx';
import barStyles from '../components/top-bar.module.css';
import { TopBar } from '../components/top-bar.tsx';
import { ShownMessages } from '../messages/shown-messages.tsx';
import { FaultsBanner } from '../session/faults-banner.tsx';
import { SignInForm } from '../session/sign-in-form.tsx';
import { leaveSession } from '../session/sign-out.ts';
import { useHealth } from '../session/use-health.ts';
import styles from './frame.module.css';
import { NamespaceSwitch } from './namespace-switch.tsx';
import { Navigation } from './navigation.tsx';
import { PageAnnouncer } from './page-announcer.tsx';
import { tokenNeededBy } from './screens.ts';
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
  const { secrets, person, account } = useSession();
  const needed = tokenNeededBy(useLocation().pathname);
  // Each API may know somebody else; the start page shows both.
  const name = needed === 'workspaces' ? account : (person ?? (needed ? undefined : account));
  return (
    <TopBar>
      <Button
        className={classes(barStyles['button'], styles['menu'])}
        aria-expanded={props.isMenuOpen}
        aria-controls="navigation"
        onClick={props.onMenu}
      >
        Menu
      </Button>
      <PageLink to="/ui/" className={barStyles['brand']}>
        <img src="/ui/keelson.svg" alt="" width="26" height="26" />
        <span>Keelson</span>
      </PageLink>
      <span className={styles['cluster']}>
        {health?.cluster_name} {health !== undefined && <Small>{health.version}</Small>}
      </span>
      <span className={styles['space']} />
      <SearchButton />
      {secrets !== undefined && <NamespaceSwitch />}
      {name !== undefined && <span className={styles['person']}>{name}</span>}
      <Button look="plain" className={barStyles['button']} onClick={() => leaveSession()}>
        Sign out
      </Button>
    </TopBar>
  );
};

export const SignedInFrame = () => {
  const session = useSession();
  const { pathname } = useLocation();
  // The page on which the menu of a narrow screen was opened; another page closes it.
  const [menuAt, setMenuAt] = useState<string>();
  const needed = tokenNeededBy(pathname);
  const isMenuOpen = menuAt === pathname;
  return (
    <>
      <PageAnnouncer />
      <Anchor className={styles['skip']} href="#content">
        Skip to the page
      </Anchor>
      <Header isMenuOpen={isMenuOpen} onMenu={() => setMenuAt(isMenuOpen ? undefined : pathname)} />
      <div className={styles['frame']}>
        <div id="navigation" className={classes(styles['side'], isMenuOpen && styles['open'])}>
          <div className={styles['inner']}>
            <Navigation />
          </div>
        </div>
        <div className={styles['content']}>
          <MainContent id="content" tabIndex={-1}>
            {needed !== undefined && session[needed] === undefined ? (
              <NeedsToken kind={needed} />
            ) : (
              <Outlet />
            )}
          </MainContent>
        </div>
      </div>
      {session.secrets !== undefined && (
        <Announcements>
          <FaultsBanner />
          <ShownMessages key="after" isSignedIn />
        </Announcements>
      )}
    </>
  );
};
