import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { readData, type Session } from '../api-client.ts';
import { useLoaded } from '../loading.ts';
import {
  type Facts,
  healthOf,
  mainFacts,
  type Status,
  shownDuration,
  shownLag,
  shownMoment,
  shownName,
  shownTransfer,
  shownValue,
} from './status.ts';

interface Statuses {
  readonly dr?: Status;
  readonly performance?: Status;
}

const REFRESH_MS = 2_000;

const pill = (word: unknown): VNode =>
  html`<span class="state ${healthOf(word)}">${shownValue(word)}</span>`;

const factsTable = (facts: readonly (readonly [string, string])[]): VNode => html`
  <table class="facts">
    <tbody>
      ${facts.map(
        ([name, text]) => html`<tr key=${name}><th scope="row">${name}</th><td>${text}</td></tr>`,
      )}
    </tbody>
  </table>
`;

const allFacts = (facts: Facts): readonly (readonly [string, string])[] =>
  Object.entries(facts)
    .filter(([, value]) => !Array.isArray(value) || value.every((one) => typeof one !== 'object'))
    .map(([name, value]) => [shownName(name), shownValue(value)] as const);

const COLUMNS: readonly (readonly [string, (peer: Facts) => string | VNode])[] = [
  ['Connection', (peer) => pill(peer['connection_status'])],
  ['Heard of', (peer) => shownMoment(peer['last_heartbeat'])],
  ['Newest sign', (peer) => shownDuration(peer['replication_primary_canary_age_ms'])],
  ['Clock skew', (peer) => shownDuration(peer['clock_skew_ms'])],
  ['Cluster address', (peer) => shownValue(peer['cluster_address'])],
];

const peersTable = (
  title: string,
  peers: readonly Facts[] | undefined,
  more: typeof COLUMNS = [],
): VNode | undefined => {
  if (peers === undefined || peers.length === 0) return undefined;
  const columns = [...more, ...COLUMNS];
  return html`
    <h3>${title}</h3>
    <table class="stacking">
      <thead><tr>${columns.map(([name]) => html`<th scope="col" key=${name}>${name}</th>`)}</tr></thead>
      <tbody>
        ${peers.map(
          (peer, at) => html`<tr key=${at}>
            ${columns.map(([name, show]) => html`<td key=${name} data-label=${name}>${show(peer)}</td>`)}
          </tr>`,
        )}
      </tbody>
    </table>
  `;
};

const SECONDARY_COLUMNS: typeof COLUMNS = [
  ['Id', (peer) => shownValue(peer['node_id'])],
  ['Behind', shownLag],
  ['Shipped', (peer) => shownTransfer(peer, 'bytes_shipped')],
];

/** The words of a status that say how it goes. */
const pillsOf = (status: Status): readonly unknown[] => {
  if (status.mode === 'primary') return [status['state']];
  return status.mode === 'bootstrapping'
    ? ['bootstrapping', status['state']]
    : [status['state'], status['connection_state']];
};

const kindSection = (title: string, status: Status | undefined, session: Session): VNode => {
  const filtered = (status?.secondaries ?? []).filter((one) => one['filtered'] === true);
  const mode = status?.mode ?? 'disabled';
  return html`
    <section class="card">
      <h2>${title} <span class="state ${mode}">${mode}</span></h2>
      ${
        status === undefined || mode === 'disabled'
          ? html`<p class="empty">This cluster does not take part.</p>`
          : html`<p class="pills">${pillsOf(status).map(pill)}</p>
            ${factsTable(mainFacts(status))}
            ${peersTable('Secondaries', status.secondaries, SECONDARY_COLUMNS)}
            ${peersTable('Primary', status.primaries)}
            ${filtered.map(
              ({ node_id: id, merkle_root: root }) =>
                html`<${FilterFacts} key=${String(id)} session=${session} id=${String(id)} root=${root} />`,
            )}
            <details>
              <summary>All fields</summary>
              ${factsTable(allFacts(status))}
              ${[...(status.secondaries ?? []), ...(status.primaries ?? [])].map((peer) => factsTable(allFacts(peer)))}
            </details>`
      }
    </section>
  `;
};

interface Filter {
  readonly mode: string;
  readonly paths: readonly string[];
}

interface DynamicFilter {
  readonly dynamic_filtered_mounts: readonly string[];
  readonly dynamic_filtered_namespaces: readonly string[];
}

/** What a paths filter keeps from one secondary. */
const FilterFacts = (props: {
  session: Session;
  id: string;
  /** Of what the filter lets through; empty until it was counted. */
  root: unknown;
}): VNode | undefined => {
  const { session, id } = props;
  const at = (suffix: string): string =>
    `sys/replication/performance/primary/${suffix}/${encodeURIComponent(id)}`;
  const { value, error } = useLoaded(
    async () => {
      const root = { ...session, namespace: '' };
      const filter = await readData<Filter>(root, at('paths-filter'));
      return { ...filter, ...(await readData<DynamicFilter>(root, at('dynamic-filter'))) };
    },
    [session.token, id],
    REFRESH_MS,
  );
  return html`
    <h3>Paths filter of ${id}</h3>
    ${error && html`<p class="problem">${error}</p>`}
    ${value && factsTable([...allFacts(value), ['merkle root of the rest', shownValue(props.root)]])}
  `;
};

/** Both kinds of replication as this cluster sees them, read again every two seconds. */
export const ReplicationPage = (props: { session: Session }): VNode => {
  const { value, error, isLoading } = useLoaded(
    // Only the root namespace has replication endpoints.
    () => readData<Statuses>({ ...props.session, namespace: '' }, 'sys/replication/status'),
    [props.session.token],
    REFRESH_MS,
  );
  return html`
    <header class="page-head"><h1>Replication</h1></header>
    ${error && html`<p role="alert" class="problem">${error}</p>`}
    ${
      !isLoading &&
      value !== undefined &&
      html`${kindSection('Performance', value.performance, props.session)}
        ${kindSection('Disaster recovery', value.dr, props.session)}`
    }
  `;
};
