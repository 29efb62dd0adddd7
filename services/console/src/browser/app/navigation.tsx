/** The products, and the pages of the one in use. */
import { Link, useLocation } from '@tanstack/react-router';
import { Boxes, Server, ShieldCheck } from 'lucide-react';
import { Fragment } from 'react';
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
      <nav className="products" aria-label="Products">
        {products.map(({ title, screens: [first] }) => {
          const Icon = ICONS[title];
          return (
            <Link
              key={title}
              to={first?.to ?? '/ui/'}
              activeOptions={{ exact: true }}
              aria-current={title === shown?.title ? 'true' : undefined}
            >
              <Icon aria-hidden="true" size={16} strokeWidth={1.75} />
              {title}
            </Link>
          );
        })}
      </nav>
      <nav aria-label="Pages">
        <ul>
          {shown?.screens.map(({ to, title }) => (
            <Fragment key={to}>
              <li>
                <Link
                  to={to}
                  activeOptions={{ exact: to === '/ui/' || to === '/app' }}
                  activeProps={{ 'aria-current': 'page' }}
                >
                  {title}
                </Link>
              </li>
              {to === '/app' && <OrganizationLinks />}
            </Fragment>
          ))}
          <li>
            <a href="/docs">API reference</a>
          </li>
        </ul>
      </nav>
    </>
  );
};
