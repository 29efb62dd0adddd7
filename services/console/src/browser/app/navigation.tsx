/** The products, and the pages of the one in use. */
import { useLocation } from '@tanstack/react-router';
import { Boxes, Server, ShieldCheck } from 'lucide-react';
import { Fragment } from 'react';
import { Anchor } from '../components/anchor.tsx';
import { classes } from '../components/classes.ts';
import { PageLink } from '../components/page-link.tsx';
import styles from './navigation.module.css';
import { OrganizationLinks } from './organization-links.tsx';
import { productAt } from './screens.ts';
import { useScreens } from './use-screens.ts';

const ICONS = { Workspaces: Boxes, Certificates: ShieldCheck, Cluster: Server } as const;

export const Navigation = () => {
  const products = useScreens();
  const { pathname } = useLocation();
  const current = productAt(pathname);
  const shown = products.find(({ title }) => title === current) ?? products[0];
  return (
    <>
      <nav className={styles['products']} aria-label="Products">
        {products.map(({ title, screens: [first] }) => {
          const Icon = ICONS[title];
          return (
            <PageLink
              key={title}
              to={first?.to ?? '/ui/'}
              className={classes(styles['link'], styles['product'])}
              activeOptions={{ exact: true }}
              aria-current={title === shown?.title ? 'true' : undefined}
            >
              <Icon aria-hidden="true" size={16} strokeWidth={1.75} />
              {title}
            </PageLink>
          );
        })}
      </nav>
      <nav aria-label="Pages">
        <ul className={styles['list']}>
          {shown?.screens.map(({ to, title }) => (
            <Fragment key={to}>
              <li>
                <PageLink
                  to={to}
                  className={styles['link']}
                  activeOptions={{ exact: to === '/ui/' || to === '/app' }}
                  activeProps={{ 'aria-current': 'page' }}
                >
                  {title}
                </PageLink>
              </li>
              {to === '/app' && <OrganizationLinks />}
            </Fragment>
          ))}
          <li>
            <Anchor href="/docs" className={styles['link']}>
              API reference
            </Anchor>
          </li>
        </ul>
      </nav>
    </>
  );
};
