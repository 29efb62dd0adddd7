import { useParams } from '@tanstack/react-router';
import { Fragment } from 'react';
import { useDocument } from '../api/queries.ts';
import type { ListDocument } from '../api/workspaces-api.ts';
import { classes } from '../components/classes.ts';
import { PageLink } from '../components/page-link.tsx';
import { useOrganizationPermissions } from '../organizations/organization-permissions.ts';
import styles from './navigation.module.css';

const SHOWN = 8;

/** The pages of an organization, shown below the current organization; some only to whoever has a right. */
const PAGES = [
  { to: '/app/$organization/projects', title: 'Projects' },
  { to: '/app/$organization/variable-sets', title: 'Variable sets' },
  { to: '/app/$organization/teams', title: 'Teams' },
  { to: '/app/$organization/agent-pools', title: 'Agent pools' },
  { to: '/app/$organization/version-control', title: 'Version control' },
  { to: '/app/$organization/activity', title: 'Activity', needs: 'can-read-audit-trail' },
  { to: '/app/$organization/settings', title: 'Settings' },
] as const;

const PageLinks = ({ organization }: { organization: string }) => {
  const may = useOrganizationPermissions(organization);
  return PAGES.filter((page) => !('needs' in page) || may(page.needs)).map(({ to, title }) => (
    <li key={to}>
      <PageLink
        to={to}
        className={classes(styles['link'], styles['deeper'])}
        params={{ organization }}
        activeProps={{ 'aria-current': 'page' }}
      >
        {title}
      </PageLink>
    </li>
  ));
};

/** Links to the workspaces of the first organizations; the organizations page lists all. */
export const OrganizationLinks = () => {
  const { data } = useDocument<ListDocument<{ name: string }>>(`organizations?page[size]=${SHOWN}`);
  const { organization: current } = useParams({ strict: false });
  const listed = data?.data.map(({ id }) => id) ?? [];
  // The current organization is always among the links.
  const shown = current === undefined || listed.includes(current) ? listed : [...listed, current];
  return shown.map((organization) => (
    <Fragment key={organization}>
      <li>
        <PageLink
          to="/app/$organization/workspaces"
          className={classes(styles['link'], styles['sub'])}
          params={{ organization }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {organization}
        </PageLink>
      </li>
      {organization === current && <PageLinks organization={organization} />}
    </Fragment>
  ));
};
