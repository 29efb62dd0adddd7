import { useCapabilities, useSecret } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import type { CertificateNumbers } from '../certificates/certificate.ts';
import { CreateAuthority } from '../certificates/create-authority.tsx';
import { PageLink } from '../components/page-link.tsx';
import type { Step } from './step.ts';

interface UiMounts {
  readonly secret?: Readonly<Record<string, { readonly type: string }>>;
}

/** The steps to the first certificate, for whoever may create an authority; none for others. */
export const useCertificateSteps = (): readonly Step[] => {
  const { secrets } = useSession();
  const { data } = useSecret<UiMounts>('sys/internal/ui/mounts', {
    enabled: secrets !== undefined,
  });
  const mount = Object.entries(data?.secret ?? {})
    .find(([, { type }]) => type === 'pki')?.[0]
    .replace(/\/$/, '');
  const summary = `${mount}/certs/summary`;
  const may = useCapabilities(
    secrets === undefined ? [] : ['sys/mounts/pki', ...(mount === undefined ? [] : [summary])],
  );
  const { data: numbers } = useSecret<CertificateNumbers>(summary, {
    enabled: mount !== undefined && may(summary, 'read'),
  });
  if (data === undefined || !may('sys/mounts/pki', 'update')) return [];
  // The first certificate of an authority is its own.
  const issued = numbers ? numbers.valid + numbers.expired + numbers.revoked - 1 : 0;
  return [
    {
      title: 'Create an authority.',
      isDone: mount !== undefined,
      action: <CreateAuthority />,
    },
    {
      title: 'Create a role, and issue a certificate by it.',
      isDone: issued > 0,
      action: (
        <PageLink
          to="/ui/certificates/$mount"
          params={{ mount: mount ?? '' }}
          search={{ tab: 'roles' }}
        >
          Roles of {mount}
        </PageLink>
      ),
    },
  ];
};
