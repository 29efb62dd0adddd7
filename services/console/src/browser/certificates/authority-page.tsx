import { getRouteApi, Link } from '@tanstack/react-router';
import { Page } from '../components/page.tsx';
import { Tabs } from '../components/tabs.tsx';
import { CertificatesTab } from './certificates-tab.tsx';
import { IssuersTab } from './issuers-tab.tsx';
import { RolesTab } from './roles-tab.tsx';
import { SettingsTab } from './settings-tab.tsx';

const route = getRouteApi('/ui/certificates/$mount');

/** One certificate authority in four parts. */
export const AuthorityPage = () => {
  const { mount } = route.useParams();
  const { tab = 'certificates' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page title={mount} lead={<Link to="/ui/certificates">Certificate authorities</Link>}>
      <Tabs
        label="Parts of the authority"
        items={[
          { name: 'certificates', title: 'Certificates', content: () => <CertificatesTab /> },
          { name: 'issuers', title: 'Issuers', content: () => <IssuersTab /> },
          { name: 'roles', title: 'Roles', content: () => <RolesTab /> },
          { name: 'settings', title: 'Settings', content: () => <SettingsTab /> },
        ]}
        selected={tab}
        onSelect={(next) =>
          void navigate({ search: next === 'certificates' ? {} : { tab: next }, replace: true })
        }
      />
    </Page>
  );
};
