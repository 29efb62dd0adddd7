/** Authorities with the next end of their issuers and certificates. */
import { useCapabilities, useSecret, useSecretList } from '../api/queries.ts';
import type { CertificateNumbers } from '../certificates/certificate.ts';
import { DataTable } from '../components/data-table.tsx';
import { formatDistance, formatExactTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { Pill } from '../components/pill.tsx';

/** Each row costs two requests. */
const MAX_AUTHORITIES = 10;
const SOON_WEEKS = 4;
/** A root or intermediate needs a plan before it ends. */
const ISSUER_NOTICE_MS = 90 * 86_400_000;

interface UiMounts {
  readonly secret?: Readonly<Record<string, { readonly type: string }>>;
}

const ExpiringCertificates = ({ mount }: { mount: string }) => {
  const path = `${mount}/certs/summary`;
  const may = useCapabilities([path]);
  const { data, error } = useSecret<CertificateNumbers>(path, { enabled: may(path, 'read') });
  if (error !== null) return 'cannot be read';
  if (data === undefined || data === null) return '–';
  const soon = data.expiring_by_week
    .slice(0, SOON_WEEKS)
    .reduce((sum, { expiring }) => sum + expiring, 0);
  return soon === 0 ? 'none' : <Pill tone="busy">{soon.toLocaleString()}</Pill>;
};

const NextIssuer = ({ mount }: { mount: string }) => {
  // Everybody may list issuers, as relying parties do.
  const { data, error } = useSecretList<{ readonly not_after: string }>(`${mount}/issuers`);
  if (error !== null) return 'cannot be read';
  const [first] = Object.values(data?.infos ?? {})
    .map(({ not_after: notAfter }) => notAfter)
    .toSorted();
  if (first === undefined) return '–';
  const time = (
    <time dateTime={first} title={formatExactTime(first)}>
      {formatDistance(first, Date.now())}
    </time>
  );
  return Date.parse(first) - Date.now() < ISSUER_NOTICE_MS ? <Pill tone="busy">{time}</Pill> : time;
};

export const ExpiringAuthorities = () => {
  const query = useSecret<UiMounts>('sys/internal/ui/mounts');
  const authorities = Object.entries(query.data?.secret ?? {})
    .filter(([, { type }]) => type === 'pki')
    .map(([path]) => path.replace(/\/$/, ''));
  if (query.error === null && authorities.length === 0) return null;
  return (
    <Card title="Certificates and issuers that expire">
      <Loaded query={query}>
        {() => (
          <DataTable
            label="Certificates and issuers that expire"
            rows={authorities.slice(0, MAX_AUTHORITIES)}
            keyOf={(mount) => mount}
            columns={[
              {
                title: 'Authority',
                isName: true,
                cell: (mount) => (
                  <PageLink to="/ui/certificates/$mount" params={{ mount }}>
                    {mount}
                  </PageLink>
                ),
              },
              {
                title: `Certificates within ${SOON_WEEKS} weeks`,
                cell: (mount) => <ExpiringCertificates mount={mount} />,
              },
              { title: 'Next issuer', cell: (mount) => <NextIssuer mount={mount} /> },
            ]}
          />
        )}
      </Loaded>
      {authorities.length > MAX_AUTHORITIES && (
        <p>
          <PageLink to="/ui/certificates">All authorities</PageLink>
        </p>
      )}
    </Card>
  );
};
