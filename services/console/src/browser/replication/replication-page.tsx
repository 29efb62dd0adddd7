import type { ReactNode } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useSecret } from '../api/queries.ts';
import { Commands, rootCurl, rootVaultCommand } from '../components/commands.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Details, Summary } from '../components/details.tsx';
import { FactList } from '../components/fact-list.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty, Page, Problem } from '../components/page.tsx';
import { Pill, PillRow } from '../components/pill.tsx';
import { PartHeading } from '../components/text.tsx';
import type { HistoryChart } from '../history/history-card.tsx';
import { SecretHistory } from '../history/secret-history.tsx';
import { ClusterMap } from './cluster-map.tsx';
import { LagCurve } from './lag-curve.tsx';
import { ReplicationActions } from './replication-actions.tsx';
import {
  type Facts,
  formatDuration,
  formatFieldName,
  formatLag,
  formatMoment,
  formatTransfer,
  formatValue,
  healthOf,
  mainFacts,
  type Status,
} from './replication-status.ts';

export interface Statuses {
  readonly dr?: Status;
  readonly performance?: Status;
}

const REFRESH_MS = 2_000;
const MODE_TONES: Readonly<Record<string, 'good' | 'busy' | 'accent'>> = {
  primary: 'good',
  secondary: 'accent',
  bootstrapping: 'busy',
};

const StatePill = ({ word }: { word: unknown }) => (
  <Pill tone={healthOf(word)}>{formatValue(word)}</Pill>
);

const allFacts = (facts: Facts): readonly (readonly [string, string])[] =>
  Object.entries(facts)
    .filter(([, value]) => !Array.isArray(value) || value.every((one) => typeof one !== 'object'))
    .map(([name, value]) => [formatFieldName(name), formatValue(value)] as const);

const COLUMNS: readonly Column<Facts>[] = [
  { title: 'Connection', cell: (peer) => <StatePill word={peer['connection_status']} /> },
  { title: 'Last contact', cell: (peer) => formatMoment(peer['last_heartbeat']) },
  {
    title: 'Newest sign',
    cell: (peer) => formatDuration(peer['replication_primary_canary_age_ms']),
  },
  { title: 'Clock skew', cell: (peer) => formatDuration(peer['clock_skew_ms']) },
  { title: 'Cluster address', cell: (peer) => formatValue(peer['cluster_address']) },
];

const SECONDARY_COLUMNS: readonly Column<Facts>[] = [
  { title: 'Id', cell: (peer) => formatValue(peer['node_id']), isName: true },
  { title: 'Behind', cell: formatLag },
  { title: 'Shipped', cell: (peer) => formatTransfer(peer, 'bytes_shipped') },
];

const Peers = (props: {
  title: string;
  peers: readonly Facts[] | undefined;
  more?: readonly Column<Facts>[];
}) =>
  props.peers === undefined || props.peers.length === 0 ? null : (
    <>
      <PartHeading>{props.title}</PartHeading>
      <DataTable
        label={props.title}
        columns={[...(props.more ?? []), ...COLUMNS]}
        rows={props.peers}
        keyOf={(peer) => `${formatValue(peer['node_id'])} ${formatValue(peer['cluster_address'])}`}
      />
    </>
  );

/** The fields of a replication status that indicate its health. */
const wordsOf = (status: Status): readonly unknown[] => {
  if (status.mode === 'primary') return [status['state']];
  return status.mode === 'bootstrapping'
    ? ['bootstrapping', status['state']]
    : [status['state'], status['connection_state']];
};

interface Filter {
  readonly mode: string;
  readonly paths: readonly string[];
}

interface DynamicFilter {
  readonly dynamic_filtered_mounts: readonly string[];
  readonly dynamic_filtered_namespaces: readonly string[];
}

/** Paths that a filter withholds from one secondary, and the Merkle root of the remaining data. */
const FilterFacts = ({ id, root }: { id: string; root: unknown }) => {
  const at = (suffix: string): string =>
    `sys/replication/performance/primary/${suffix}/${encodeURIComponent(id)}`;
  const options = { everyMs: REFRESH_MS, namespace: '' };
  const filter = useSecret<Filter>(at('paths-filter'), options);
  const dynamic = useSecret<DynamicFilter>(at('dynamic-filter'), options);
  return (
    <>
      <PartHeading>Paths filter of {id}</PartHeading>
      {filter.error !== null && <Problem>{messageOf(filter.error)}</Problem>}
      {filter.data && (
        <FactList
          facts={[
            ...allFacts({ ...filter.data, ...dynamic.data }),
            ['merkle root of the rest', formatValue(root)],
          ]}
        />
      )}
    </>
  );
};

const Kind = (props: { title: string; status: Status | undefined; actions: ReactNode }) => {
  const { status } = props;
  const mode = status?.mode ?? 'disabled';
  const filtered = (status?.secondaries ?? []).filter((one) => one['filtered'] === true);
  return (
    <Card title={props.title} actions={<Pill tone={MODE_TONES[mode] ?? 'plain'}>{mode}</Pill>}>
      {status === undefined || mode === 'disabled' ? (
        <Empty>This cluster does not take part.</Empty>
      ) : (
        <>
          <PillRow>
            {wordsOf(status).map((word) => (
              <StatePill key={String(word)} word={word} />
            ))}
          </PillRow>
          <ClusterMap title={props.title} status={status} />
          <LagCurve title={props.title} status={status} />
          <FactList facts={mainFacts(status)} />
          <Peers title="Secondaries" peers={status.secondaries} more={SECONDARY_COLUMNS} />
          <Peers title="Primary" peers={status.primaries} />
          {filtered.map(({ node_id: id, merkle_root: root }) => (
            <FilterFacts key={String(id)} id={String(id)} root={root} />
          ))}
          <Details>
            <Summary>All fields</Summary>
            <FactList facts={allFacts(status)} />
            {[...(status.secondaries ?? []), ...(status.primaries ?? [])].map((peer) => (
              <FactList key={formatValue(peer['cluster_address'])} facts={allFacts(peer)} />
            ))}
          </Details>
        </>
      )}
      {props.actions}
    </Card>
  );
};

/** Charts of the lag of the kinds in which this cluster takes part. */
const lagsOf = (statuses: Statuses | null): readonly HistoryChart[] =>
  (
    [
      ['performance', 'Performance'],
      ['dr', 'Disaster recovery'],
    ] as const
  )
    .filter(([kind]) => (statuses?.[kind]?.mode ?? 'disabled') !== 'disabled')
    .map(([kind, title]) => ({
      title: `${title} lag`,
      shape: 'lines',
      addsUp: false,
      series: [{ key: `${kind}_lag_ms`, name: 'behind', tone: 'accent' }],
      valueText: formatDuration,
    }));

const LagHistory = ({ statuses }: { statuses: Statuses | null }) => {
  const charts = lagsOf(statuses);
  return charts.length === 0 ? null : (
    <SecretHistory title="History" path="sys/history" namespace="" charts={charts} />
  );
};

/**
 * The status of both kinds of replication on this cluster. It is public, so it is also shown before
 * sign-in.
 */
export const ReplicationStatus = () => {
  // Only the root namespace has replication endpoints.
  const query = useSecret<Statuses>('sys/replication/status', {
    everyMs: REFRESH_MS,
    isLive: true,
    namespace: '',
  });
  return (
    <Loaded query={query}>
      {(statuses) => (
        <>
          <Kind
            title="Performance"
            status={statuses?.performance}
            actions={<ReplicationActions kind="performance" status={statuses?.performance} />}
          />
          <Kind
            title="Disaster recovery"
            status={statuses?.dr}
            actions={<ReplicationActions kind="dr" status={statuses?.dr} />}
          />
          <LagHistory statuses={statuses} />
          <Commands
            commands={[
              rootCurl('GET', 'sys/replication/status'),
              rootVaultCommand('vault read sys/replication/status'),
            ]}
          />
        </>
      )}
    </Loaded>
  );
};

export const ReplicationPage = () => (
  <Page title="Replication" lead="This cluster and those it exchanges data with, as they are now.">
    <ReplicationStatus />
  </Page>
);
