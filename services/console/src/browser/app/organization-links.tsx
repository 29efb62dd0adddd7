import { Link, useParams } from '@tanstack/react-router';
import { Fragment } from 'react';
import { useDocument } from '../api/queries.ts';
import type { ListDocument } from '../api/workspaces-api.ts';

const SHOWN = 8;

/** The pages of an organization, shown below the current organization. */
const PAGES = [
  ['/app/$organization/projects', 'Projects'],
  ['/app/$organization/variable-sets', 'Variable sets'],
  ['/app/$organization/teams', 'Teams'],
  ['/app/$organization/agent-pools', 'Agent pools'],
  ['/app/$organization/version-control', 'Version control'],
  ['/app/$organization/settings', 'Settings'],
] as const;

/** Links to the workspaces of the first organizations; the organizations page lists all. */
export const OrganizationLinks = () => {
  const { data } = useDocument<ListDocument<{ name: string }>>(`organizations?page[size]=${SHOWN}`);
  const { organization: current } = useParams({ strict: false });
  const listed = data?.data.map(({ id }) => id) ?? [];
  // The current organization is always among the links.
  const shown = current === undefined || listed.includes(current) ? listed : [...listed, current];
  return shown.map((organization) => (
    <Fragment key={organization}>
      <li className="sub">
        <Link
          to="/app/$organization/workspaces"
          params={{ organization }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {organization}
        </Link>
      </li>
      {organization === current &&
        PAGES.map(([to, title]) => (
          <li key={to} className="sub deeper">
            <Link to={to} params={{ organization }} activeProps={{ 'aria-current': 'page' }}>
              {title}
            </Link>
          </li>
        ))}
    </Fragment>
  ));
};
