import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useSecretPages } from '../api/queries.ts';
import type { Listed } from '../api/secrets-api.ts';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { counted, formatDistance, formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { Pill } from '../components/pill.tsx';
import { type CertificateSummary, type ListedCertificate, matching } from './certificate.ts';
import { CertificateLink } from './certificate-link.tsx';
import { EXPIRIES, type Expiry, expiryQuery } from './certificate-search.ts';
import { ExpiryChart } from './expiry-chart.tsx';

const route = getRouteApi('/ui/certificates/$mount');
/** The server's limit. */
const PAGE_SIZE = 1000;
/** A search for a text goes on by itself until it has found so many. */
const ENOUGH = 50;
const SOON_MS = 7 * 86_400_000;

const EXPIRY_NAMES: Readonly<Record<Expiry, string>> = {
  valid: 'are valid',
  week: 'expire within a week',
  month: 'expire within 30 days',
  expired: 'have expired',
  all: 'exist',
};

const Validity = ({ notAfter, nowMs }: { notAfter: string; nowMs: number }) => {
  const left = Date.parse(notAfter) - nowMs;
  const tone = left < 0 ? 'bad' : left < SOON_MS ? 'busy' : 'good';
  return <Pill tone={tone}>{left < 0 ? 'expired' : formatDistance(notAfter, nowMs)}</Pill>;
};

/** The certificates of the pages read so far, those that expire first before the others. */
const listedIn = (pages: readonly Listed<CertificateSummary>[]): readonly ListedCertificate[] =>
  pages.flatMap(({ keys, infos }) =>
    keys.flatMap((serial) => {
      const info = infos[serial];
      return info === undefined ? [] : [{ serial, ...info }];
    }),
  );

export const CertificatesTab = () => {
  const { mount } = route.useParams();
  const { text = '', expiry = 'valid' } = route.useSearch();
  const navigate = route.useNavigate();
  // Fixed for the lifetime of the tab: a new time would be a new query.
  const [nowMs] = useState(() => Date.now());
  const query = useSecretPages<CertificateSummary>(
    `${mount}/certs/detailed?${expiryQuery(expiry, nowMs)}`,
    PAGE_SIZE,
  );
  const { hasNextPage, isFetching, fetchNextPage } = query;
  const all = listedIn(query.data?.pages ?? []);
  const found = matching(all, text);
  const goesOn = text.trim() !== '' && found.length < ENOUGH && hasNextPage;
  useEffect(() => {
    if (goesOn && !isFetching) void fetchNextPage();
  }, [goesOn, isFetching, fetchNextPage]);
  const change = (part: { text?: string; expiry?: Expiry }): void =>
    void navigate({ search: (last) => ({ ...last, ...part }), replace: true });
  return (
    <>
      <form className="selection" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          Name or serial number
          <input
            type="search"
            value={text}
            onChange={({ target }) => change({ text: target.value })}
          />
        </label>
        <label>
          Certificates that
          <select
            value={expiry}
            onChange={({ target }) => change({ expiry: target.value as Expiry })}
          >
            {EXPIRIES.map((one) => (
              <option key={one} value={one}>
                {EXPIRY_NAMES[one]}
              </option>
            ))}
          </select>
        </label>
      </form>
      <Loaded query={query}>
        {() => {
          const further = hasNextPage && (
            <p className="lead" role="status">
              {counted(all.length, 'certificate')} looked at, those that expire first.{' '}
              {isFetching ? (
                'Reading further ones…'
              ) : (
                <button type="button" className="link" onClick={() => void fetchNextPage()}>
                  Read {PAGE_SIZE.toLocaleString()} more
                </button>
              )}
            </p>
          );
          return found.length === 0 ? (
            <>
              <Empty>No certificate is selected by this search.</Empty>
              {further}
            </>
          ) : (
            <>
              {further}
              {expiry !== 'expired' && (
                <Card title="Expiry, week by week">
                  <ExpiryChart certificates={found} nowMs={nowMs} />
                </Card>
              )}
              <p className="lead">
                {counted(found.length, 'certificate')}, those that expire first before the others.
              </p>
              <DataTable
                label="Certificates"
                rows={found}
                keyOf={({ serial }) => serial}
                columns={[
                  {
                    title: 'Name',
                    isName: true,
                    cell: ({ serial, common_name: name, dns_names: names }) => (
                      <CertificateLink mount={mount} serial={serial}>
                        {name || names[0] || serial}
                      </CertificateLink>
                    ),
                  },
                  { title: 'Issuer', cell: ({ issuer }) => issuer },
                  { title: 'Key', cell: (one) => `${one.key_type} ${one.key_bits}` },
                  {
                    title: 'Expires',
                    cell: ({ not_after: notAfter }) => (
                      <>
                        {formatTime(notAfter)} <Validity notAfter={notAfter} nowMs={nowMs} />
                      </>
                    ),
                  },
                  {
                    title: 'Serial number',
                    cell: ({ serial }) => <code className="serial">{serial}</code>,
                  },
                ]}
              />
            </>
          );
        }}
      </Loaded>
      <Commands
        commands={[
          secretsCurl('GET', `${mount}/certs/detailed?list=true&${expiryQuery(expiry, nowMs)}`),
          vaultCommand(`vault list -detailed ${mount}/certs`),
        ]}
      />
    </>
  );
};
