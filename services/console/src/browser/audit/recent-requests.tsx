/** The newest requests that were recorded by audit devices. */
import { useCapabilities, useSecret } from '../api/queries.ts';
import { Commands, rootCurl, rootVaultCommand } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card } from '../components/page.tsx';
import { Pill } from '../components/pill.tsx';
import { Code } from '../components/text.tsx';

interface RecentRequest {
  readonly time: string;
  readonly operation: string;
  readonly namespace: string;
  readonly path: string;
  readonly status: number;
  readonly display_name: string;
  readonly remote_address: string;
}

const PATH = 'sys/internal/ui/recent-requests';
const REFRESH_MS = 10_000;

const List = ({ count }: { count: number }) => {
  const query = useSecret<{ readonly requests: readonly RecentRequest[] }>(PATH, {
    everyMs: REFRESH_MS,
    namespace: '',
  });
  return (
    <Card title="Recent requests">
      <Loaded query={query}>
        {(data) => (
          <DataTable
            label="Recent requests"
            rows={(data?.requests ?? []).slice(0, count)}
            keyOf={(one) => JSON.stringify({ ...one, time: '' })}
            empty="None has been recorded by this gateway since its start. An audit device records them."
            columns={[
              {
                title: 'Request',
                isName: true,
                cell: (one) => (
                  <>
                    {one.operation}{' '}
                    <Code>
                      {[one.namespace.replace(/\/$/, ''), one.path].filter(Boolean).join('/')}
                    </Code>
                  </>
                ),
              },
              {
                title: 'Answer',
                cell: ({ status }) => (
                  <Pill tone={status < 400 ? 'good' : status < 500 ? 'busy' : 'bad'}>{status}</Pill>
                ),
              },
              { title: 'By', cell: (one) => one.display_name || 'nobody' },
              { title: 'From', isUnbroken: true, cell: (one) => one.remote_address },
              { title: 'When', isUnbroken: true, cell: (one) => formatTime(one.time) },
            ]}
          />
        )}
      </Loaded>
      <Commands commands={[rootCurl('GET', PATH), rootVaultCommand(`vault read ${PATH}`)]} />
    </Card>
  );
};

/** Shown to tokens that may see them. */
export const RecentRequests = ({ count }: { count: number }) => {
  const may = useCapabilities([PATH], { namespace: '' });
  return may(PATH, 'read', 'sudo') && <List count={count} />;
};
