import { getRouteApi } from '@tanstack/react-router';
import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';
import { type Capability, useCapabilities } from '../api/queries.ts';
import { Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { Tabs } from '../components/tabs.tsx';
import type { MountTab } from './mount-tab.ts';

const route = getRouteApi('/ui/certificates/$mount');

// Loaded when they are shown: charts and the reader of certificates are large.
const CertificatesTab = lazy(async () => ({
  default: (await import('./certificates-tab.tsx')).CertificatesTab,
}));
const IssuersTab = lazy(async () => ({ default: (await import('./issuers-tab.tsx')).IssuersTab }));
const KeysTab = lazy(async () => ({ default: (await import('./keys/keys-tab.tsx')).KeysTab }));
const EstTab = lazy(async () => ({ default: (await import('./est/est-tab.tsx')).EstTab }));
const PolicyTab = lazy(async () => ({
  default: (await import('./external-policy/policy-tab.tsx')).PolicyTab,
}));
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
  tab('keys', 'Keys', KeysTab),
  tab('roles', 'Roles', RolesTab),
  tab('est', 'EST', EstTab),
  tab('policy', 'External policy', PolicyTab),
  tab('settings', 'Settings', SettingsTab),
];

/** Paths below the mount of which a token must be able to read one, for a part to show anything. */
const READ_BY: Readonly<Partial<Record<MountTab, readonly [Capability, ...string[]]>>> = {
  issuers: ['list', 'issuers'],
  keys: ['list', 'keys'],
  est: ['read', 'config/est'],
  policy: ['read', 'config/external-policy'],
  settings: ['read', 'config/acme', 'config/crl', 'config/urls', 'config/cluster', 'tidy-status'],
};

/** The parts that the token can read, and the one that the address names. */
const useReadableTabs = (mount: string, selected: MountTab): typeof TABS => {
  const paths = Object.values(READ_BY).flatMap(([, ...below]) => below);
  const may = useCapabilities(paths.map((path) => `${mount}/${path}`));
  return TABS.filter(({ name }) => {
    const [capability, ...below] = READ_BY[name] ?? [];
    return (
      capability === undefined ||
      name === selected ||
      below.some((path) => may(`${mount}/${path}`, capability))
    );
  });
};

/** One certificate authority in its parts. */
export const AuthorityPage = () => {
  const { mount } = route.useParams();
  const { tab: selected = 'certificates' } = route.useSearch();
  const navigate = route.useNavigate();
  const items = useReadableTabs(mount, selected);
  return (
    <Page title={mount} lead={<PageLink to="/ui/certificates">Certificate authorities</PageLink>}>
      <Tabs
        label="Parts of the authority"
        items={items}
        selected={selected}
        onSelect={(next) =>
          void navigate({ search: next === 'certificates' ? {} : { tab: next }, replace: true })
        }
      />
    </Page>
  );
};
