import { getRouteApi, Link } from '@tanstack/react-router';
import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';
import { Skeleton } from '../components/loaded.tsx';
import { Page } from '../components/page.tsx';
import { Tabs } from '../components/tabs.tsx';
import type { MountTab } from './mount-tab.ts';

const route = getRouteApi('/ui/certificates/$mount');

// Loaded when they are shown: charts and the reader of certificates are large.
const CertificatesTab = lazy(async () => ({
  default: (await import('./certificates-tab.tsx')).CertificatesTab,
}));
const IssuersTab = lazy(async () => ({ default: (await import('./issuers-tab.tsx')).IssuersTab }));
const RolesTab = lazy(async () => ({ default: (await import('./roles-tab.tsx')).RolesTab }));
const SettingsTab = lazy(async () => ({
  default: (await import('./settings-tab.tsx')).SettingsTab,
}));

const tab = (name: MountTab, title: string, Content: ComponentType) => ({
  name,
  title,
  content: (): ReactNode => (
    <Suspense fallback={<Skeleton />}>
      <Content />
    </Suspense>
  ),
});

const TABS = [
  tab('certificates', 'Certificates', CertificatesTab),
  tab('issuers', 'Issuers', IssuersTab),
  tab('roles', 'Roles', RolesTab),
  tab('settings', 'Settings', SettingsTab),
];

/** One certificate authority in four parts. */
export const AuthorityPage = () => {
  const { mount } = route.useParams();
  const { tab: selected = 'certificates' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page title={mount} lead={<Link to="/ui/certificates">Certificate authorities</Link>}>
      <Tabs
        label="Parts of the authority"
        items={TABS}
        selected={selected}
        onSelect={(next) =>
          void navigate({ search: next === 'certificates' ? {} : { tab: next }, replace: true })
        }
      />
    </Page>
  );
};
