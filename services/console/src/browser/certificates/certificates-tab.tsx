import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useCapabilities, useSecretPages } from '../api/queries.ts';
import type { Listed } from '../api/secrets-api.ts';
import { useSession } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Input, Label, SelectField } from '../components/fields.tsx';
import { FilterForm } from '../components/filter-form.tsx';
import { counted, formatDistance, formatExactTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Empty, Lead } from '../components/page.tsx';
import { Pill } from '../components/pill.tsx';
import { type Selection, SelectionBar, useSelection } from '../components/selection.tsx';
import { Code } from '../components/text.tsx';
import type { HistoryChart } from '../history/history-card.tsx';
import { SecretHistory } from '../history/secret-history.tsx';
import { BulkRevocation, nameOfCertificate, type Revocable } from './bulk-revocation.tsx';
import { type CertificateSummary, type ListedCertificate, matching } from './certificate.ts';
import { CertificateLink } from './certificate-link.tsx';
import { CertificateNumbersCard } from './certificate-numbers.tsx';
import { EXPIRIES, type Expiry, expiryQuery } from './certificate-search.ts';
import { ExportButtons } from './export-buttons.tsx';

const route = getRouteApi('/ui/certificates/$mount');
/** The server's limit. */
const PAGE_SIZE = 1000;
/** A search for a text goes on by itself until it has found so many. */
const ENOUGH = 50;
/** Certificates that are selected at most by one press. */
const MAX_CHOSEN = 500;
const SOON_MS = 7 * 86_400_000;

const HISTORY: readonly HistoryChart[] = [
  {
    title: 'Certificates',
    shape: 'bars',
    addsUp: true,
    series: [
      { key: 'certificates_issued', name: 'issued', tone: 'accent' },
      { key: 'certificates_revoked', name: 'revoked', tone: 'bad' },
    ],
  },
  {
    title: 'ACME orders',
    shape: 'lines',
    addsUp: true,
    series: [
      { key: 'acme_orders_created', name: 'created', tone: 'accent' },
      { key: 'acme_orders_finished', name: 'finished', tone: 'good' },
    ],
  },
];

const EXPIRY_NAMES: Readonly<Record<Expiry, string>> = {
  valid: 'are valid',
  week: 'expire within a week',
  month: 'expire within 30 days',
  revoked: 'are revoked',
  expired: 'have expired',
  all: 'exist',
};

const State = ({ certificate, nowMs }: { certificate: ListedCertificate; nowMs: number }) => {
  const left = Date.parse(certificate.not_after) - nowMs;
  if (left < 0) return <Pill>expired</Pill>;
  if (certificate.revoked) return <Pill tone="bad">revoked</Pill>;
  return left < SOON_MS ? <Pill tone="busy">expires soon</Pill> : <Pill tone="good">valid</Pill>;
};

const columnsOf = (mount: string, nowMs: number): readonly Column<ListedCertificate>[] => [
  {
    title: 'Name',
    isName: true,
    cell: (certificate) => {
      const shown = nameOfCertificate(certificate);
      return (
        <CertificateLink mount={mount} serial={certificate.serial}>
          {certificate.revoked ? <del>{shown}</del> : shown}
        </CertificateLink>
      );
    },
  },
  {
    title: 'State',
    isUnbroken: true,
    cell: (certificate) => <State certificate={certificate} nowMs={nowMs} />,
  },
  { title: 'Issuer', cell: ({ issuer }) => issuer },
  { title: 'Key', cell: (one) => `${one.key_type} ${one.key_bits}` },
  {
    title: 'Expires',
    cell: ({ not_after: notAfter }) => (
      <time dateTime={notAfter} title={formatExactTime(notAfter)}>
        {formatDistance(notAfter, nowMs)}
      </time>
    ),
  },
  { title: 'Serial number', cell: ({ serial }) => <Code isSmall>{serial}</Code> },
];

/** The certificates of the pages read so far, those that expire first before the others. */
const listedIn = (pages: readonly Listed<CertificateSummary>[]): readonly ListedCertificate[] =>
  pages.flatMap(({ keys, infos }) =>
    keys.flatMap((serial) => {
      const info = infos[serial];
      return info === undefined ? [] : [{ serial, ...info }];
    }),
  );

/** The certificates that are selected; the bar stays with its dialog when the list has become empty. */
const Selected = (props: {
  mount: string;
  nowMs: number;
  found: readonly ListedCertificate[];
  selection: Selection<Revocable>;
}) => {
  const { mount, nowMs, found } = props;
  const { chosen, onChange } = props.selection;
  const all = found.slice(0, MAX_CHOSEN);
  return (
    <SelectionBar count={chosen.size} noun="certificate" onClear={() => onChange(new Map())}>
      {chosen.size < all.length && (
        <Button look="link" onClick={() => onChange(new Map(all.map((one) => [one.serial, one])))}>
          {found.length > all.length
            ? `Select the first ${all.length}`
            : `Select all ${all.length}`}
        </Button>
      )}
      <BulkRevocation mount={mount} nowMs={nowMs} chosen={chosen} onEnd={onChange} />
    </SelectionBar>
  );
};

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
  const { namespace } = useSession();
  const may = useCapabilities([`${mount}/revoke`]);
  const selection = useSelection<Revocable>(
    `${namespace} ${mount} ${expiry} ${text}`,
    (certificate) => `${nameOfCertificate(certificate)}, ${certificate.serial}`,
  );
  const mayRevoke = may(`${mount}/revoke`, 'update');
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
      <CertificateNumbersCard mount={mount} />
      <SecretHistory title="History" path={`${mount}/history`} charts={HISTORY} />
      <FilterForm onSubmit={(event) => event.preventDefault()}>
        <Label>
          Name or serial number
          <Input
            type="search"
            value={text}
            onChange={({ target }) => change({ text: target.value })}
          />
        </Label>
        <Label>
          Certificates that
          <SelectField
            value={expiry}
            onChange={({ target }) => change({ expiry: target.value as Expiry })}
          >
            {EXPIRIES.map((one) => (
              <option key={one} value={one}>
                {EXPIRY_NAMES[one]}
              </option>
            ))}
          </SelectField>
        </Label>
      </FilterForm>
      <Loaded query={query}>
        {() => {
          const further = hasNextPage && (
            <Lead role="status">
              {counted(all.length, 'certificate')} looked at, those that expire first.{' '}
              {isFetching ? (
                'Reading further ones…'
              ) : (
                <Button look="link" onClick={() => void fetchNextPage()}>
                  Read {PAGE_SIZE.toLocaleString()} more
                </Button>
              )}
            </Lead>
          );
          return found.length === 0 ? (
            <>
              <Empty>No certificate is selected by this search.</Empty>
              {further}
            </>
          ) : (
            <>
              {further}
              <Lead>
                {counted(found.length, 'certificate')}, those that expire first before the others.
              </Lead>
              <DataTable
                label="Certificates"
                rows={found}
                keyOf={({ serial }) => serial}
                columns={columnsOf(mount, nowMs)}
                selection={mayRevoke ? selection : undefined}
              />
              <ExportButtons
                mount={mount}
                filter={expiryQuery(expiry, nowMs)}
                text={text}
                nowMs={nowMs}
              />
            </>
          );
        }}
      </Loaded>
      <Selected mount={mount} nowMs={nowMs} found={found} selection={selection} />
      <Commands
        commands={[
          secretsCurl('GET', `${mount}/certs/summary`),
          secretsCurl('GET', `${mount}/certs/detailed?list=true&${expiryQuery(expiry, nowMs)}`),
          vaultCommand(`vault list -detailed ${mount}/certs`),
        ]}
      />
    </>
  );
};
