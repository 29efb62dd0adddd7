/** The start page: runs and certificates that need the person, then seal, nodes, replication and leases for administrators. */
import { lazy, Suspense } from 'react';
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { useSession } from '../api/session.ts';
import { RecentRequests } from '../audit/recent-requests.tsx';
import { ActionButton } from '../components/action-button.tsx';
import {
  Commands,
  rootCurl,
  rootVaultCommand,
  secretsCurl,
  vaultCommand,
} from '../components/commands.tsx';
import { FactList } from '../components/fact-list.tsx';
import { formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { Pill, type Tone } from '../components/pill.tsx';
import { PlainList } from '../components/plain-list.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { Small } from '../components/text.tsx';
import type { HistoryChart } from '../history/history-card.tsx';
import type { Statuses } from '../replication/replication-page.tsx';
import { useHealth } from '../session/use-health.ts';
import { ExpiringAuthorities } from './expiring-authorities.tsx';
import { MyLocks } from './my-locks.tsx';
import { MyRuns } from './my-runs.tsx';
import { RecentChanges } from './recent-changes.tsx';
import { Tile, TileFigure, Tiles, TileText } from './tile.tsx';

// Loaded when it is shown, as all charts are.
const SecretHistory = lazy(async () => ({
  default: (await import('../history/secret-history.tsx')).SecretHistory,
}));

// Most people have taken them.
const FirstStepsCard = lazy(async () => ({
  default: (await import('./first-steps-card.tsx')).FirstStepsCard,
}));

const HISTORY: readonly HistoryChart[] = [
  {
    title: 'Requests',
    shape: 'bars',
    addsUp: true,
    series: [{ key: 'requests', name: 'answered', tone: 'accent' }],
  },
  {
    title: 'Errors of the server',
    shape: 'bars',
    addsUp: true,
    series: [{ key: 'errors', name: 'answered with 500 or above', tone: 'bad' }],
  },
  {
    title: 'Duration of requests',
    shape: 'lines',
    addsUp: false,
    series: [
      { key: 'duration_median_ms', name: 'median', tone: 'accent' },
      { key: 'duration_95_percent_ms', name: '95 % within', tone: 'warn' },
    ],
    valueText: (ms) => `${ms.toLocaleString()} ms`,
  },
];

const REFRESH_MS = 10_000;
const RECENT_SHOWN = 8;

const Seal = () => {
  const { data: health } = useHealth();
  const may = useCapabilities(['sys/seal'], { namespace: '' });
  return (
    <Tile title="Seal">
      <TileFigure>
        <Pill tone={health?.sealed === false ? 'good' : 'bad'}>
          {health?.sealed === false ? 'unsealed' : 'unknown'}
        </Pill>
      </TileFigure>
      {may('sys/seal', 'update', 'sudo') && (
        <ActionButton
          label="Seal"
          look="small danger"
          title="Seal the cluster?"
          confirm="Seal it"
          tone="danger"
          typed="seal"
          act={() => callSecrets('POST', 'sys/seal', { namespace: '' })}
          commands={[rootCurl('POST', 'sys/seal'), rootVaultCommand('vault operator seal')]}
        >
          <p>
            Every request is refused from then on, until enough people have given their key shares.
          </p>
        </ActionButton>
      )}
    </Tile>
  );
};

interface HaStatus {
  readonly nodes: readonly {
    readonly hostname: string;
    readonly active_node: boolean;
    readonly version: string;
  }[];
}

const Nodes = () => {
  const may = useCapabilities(['sys/ha-status'], { namespace: '' });
  const isShown = may('sys/ha-status', 'read');
  const query = useSecret<HaStatus>('sys/ha-status', {
    everyMs: REFRESH_MS,
    isLive: true,
    namespace: '',
    enabled: isShown,
  });
  if (!isShown) return null;
  return (
    <Tile title="Nodes">
      <Loaded query={query}>
        {(data) => (
          <PlainList>
            {data?.nodes.map(({ hostname, active_node, version }) => (
              <li key={hostname}>
                {hostname}{' '}
                <Pill tone={active_node ? 'good' : 'plain'}>
                  {active_node ? 'active' : 'standby'}
                </Pill>{' '}
                <Small>{version}</Small>
              </li>
            ))}
          </PlainList>
        )}
      </Loaded>
    </Tile>
  );
};

const Replication = () => {
  const { data } = useSecret<Statuses>('sys/replication/status', {
    everyMs: REFRESH_MS,
    isLive: true,
    namespace: '',
  });
  return (
    <Tile title="Replication">
      <TileText>Performance: {data?.performance?.mode ?? '–'}</TileText>
      <TileText>Disaster recovery: {data?.dr?.mode ?? '–'}</TileText>
      <PageLink to="/ui/replication">In detail</PageLink>
    </Tile>
  );
};

const Counts = () => {
  const leases = useSecret<{ lease_count: number }>('sys/leases/count', { everyMs: REFRESH_MS });
  const key = useSecret<{ term: number; install_time: string }>('sys/key-status', {
    namespace: '',
  });
  return (
    <>
      <Tile title="Leases">
        <TileFigure>{leases.data?.lease_count.toLocaleString() ?? '–'}</TileFigure>
      </Tile>
      <Tile title="Encryption key">
        <TileFigure>{key.data ? `term ${key.data.term}` : '–'}</TileFigure>
        {key.data && <TileText>since {formatTime(key.data.install_time)}</TileText>}
      </Tile>
    </>
  );
};

/** The built-in runner of a process that has one. */
interface RunnerStatus {
  readonly state: 'sandboxed' | 'unsafe' | 'off';
  /** A sentence about runs, without its subject. */
  readonly description: string;
}

const RUNNER_PILLS: Readonly<Record<RunnerStatus['state'], readonly [Tone, string]>> = {
  sandboxed: ['good', 'sandboxed'],
  unsafe: ['bad', 'no sandbox'],
  off: ['plain', 'off'],
};

const Runs = () => {
  const may = useCapabilities(['sys/host-info'], { namespace: '' });
  const { data } = useSecret<{ runner?: RunnerStatus }>('sys/host-info', {
    namespace: '',
    enabled: may('sys/host-info', 'read'),
  });
  if (!data?.runner) return null;
  const [tone, state] = RUNNER_PILLS[data.runner.state];
  return (
    <Tile title="Runs">
      <TileFigure>
        <Pill tone={tone}>{state}</Pill>
      </TileFigure>
      <TileText>{data.runner.description}</TileText>
    </Tile>
  );
};

interface OwnToken {
  readonly display_name: string;
  readonly policies: readonly string[];
  readonly expire_time: string | null;
  readonly type: string;
}

const Own = () => {
  const query = useSecret<OwnToken>('auth/token/lookup-self');
  return (
    <Card title="Your token">
      <Loaded query={query}>
        {(data) =>
          data && (
            <FactList
              facts={[
                ['Name', data.display_name],
                ['Policies', data.policies.join(', ')],
                ['Kind', data.type],
                ['Expires', data.expire_time === null ? 'never' : formatTime(data.expire_time)],
              ]}
            />
          )
        }
      </Loaded>
      <Commands
        commands={[
          secretsCurl('GET', 'auth/token/lookup-self'),
          vaultCommand('vault token lookup'),
        ]}
      />
    </Card>
  );
};

export const OverviewPage = () => {
  const { secrets, workspaces } = useSession();
  const { data: health } = useHealth();
  return (
    <Page
      title="Overview"
      lead={`${health?.cluster_name ?? 'Cluster'}, Keelson ${health?.version ?? ''}`}
    >
      <Suspense fallback={<Skeleton />}>
        <FirstStepsCard />
      </Suspense>
      {workspaces !== undefined && (
        <>
          <MyRuns />
          <MyLocks />
        </>
      )}
      {secrets !== undefined && (
        <>
          <ExpiringAuthorities />
          <Tiles>
            <Seal />
            <Nodes />
            <Replication />
            <Runs />
            <Counts />
          </Tiles>
          <Suspense fallback={<Skeleton />}>
            <SecretHistory title="History" path="sys/history" namespace="" charts={HISTORY} />
          </Suspense>
          <Own />
          <RecentRequests count={RECENT_SHOWN} />
        </>
      )}
      {workspaces !== undefined && <RecentChanges />}
      <Card title={workspaces === undefined ? 'Workspaces' : 'Go to'}>
        {workspaces === undefined ? (
          <p>
            Workspaces belong to another API: <PageLink to="/app">sign in to it</PageLink> with one
            of its tokens; this session remains signed in.
          </p>
        ) : (
          <p>
            <PageLink to="/app">Organizations and their workspaces</PageLink>
            {secrets === undefined && (
              <>
                {' · '}
                <PageLink to="/ui/certificates">Certificates and administration</PageLink>, with a
                service token
              </>
            )}
          </p>
        )}
      </Card>
    </Page>
  );
};
