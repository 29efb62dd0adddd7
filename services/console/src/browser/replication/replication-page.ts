import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { readData, type Session } from '../api-client.ts';
import { useLoaded } from '../loading.ts';

type Status = Readonly<Record<string, unknown>> & {
  readonly mode?: string;
  readonly secondaries?: readonly Readonly<Record<string, unknown>>[];
  readonly primaries?: readonly Readonly<Record<string, unknown>>[];
};

interface Statuses {
  readonly dr?: Status;
  readonly performance?: Status;
}

const REFRESH_MS = 2_000;

const shown = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return '–';
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(shown).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number);
};

const label = (name: string): string => name.replaceAll('_', ' ');

const factsTable = (status: object): VNode => html`
  <table class="facts">
    <tbody>
      ${Object.entries(status)
        .filter(([name]) => !['mode', 'secondaries', 'primaries'].includes(name))
        .map(
          ([name, value]) =>
            html`<tr key=${name}><th scope="row">${label(name)}</th><td>${shown(value)}</td></tr>`,
        )}
    </tbody>
  </table>
`;

const peersTable = (
  title: string,
  peers: readonly Readonly<Record<string, unknown>>[] | undefined,
): VNode | undefined => {
  if (peers === undefined || peers.length === 0) return undefined;
  const columns = [...new Set(peers.flatMap((peer) => Object.keys(peer)))];
  return html`
    <h3>${title}</h3>
    <div class="wide">
      <table>
        <thead><tr>${columns.map((name) => html`<th scope="col" key=${name}>${label(name)}</th>`)}</tr></thead>
        <tbody>
          ${peers.map((peer, at) => html`<tr key=${at}>${columns.map((name) => html`<td key=${name}>${shown(peer[name])}</td>`)}</tr>`)}
        </tbody>
      </table>
    </div>
  `;
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
          : html`${factsTable(status)} ${peersTable('Secondaries', status.secondaries)}
            ${peersTable('Primaries', status.primaries)}
            ${filtered.map(({ node_id: id }) => html`<${FilterFacts} key=${String(id)} session=${session} id=${String(id)} />`)}`
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
const FilterFacts = (props: { session: Session; id: string }): VNode => {
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
    ${value && factsTable(value)}
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
      error === undefined &&
      html`${kindSection('Performance', value?.performance, props.session)}
        ${kindSection('Disaster recovery', value?.dr, props.session)}`
    }
  `;
};
