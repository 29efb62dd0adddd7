/** Audit devices, which record every request and response before it is sent. */
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, rootCurl, rootVaultCommand } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Empty, Page } from '../components/page.tsx';
import { RecentRequests } from './recent-requests.tsx';

interface Device {
  readonly type: string;
  readonly description: string;
  readonly options: Readonly<Record<string, string>>;
}

const RECENT_SHOWN = 50;
const NEW_DEVICE = 'sys/audit/file';

const bodyOf = (file: string): object => ({ type: 'file', options: { file_path: file } });

const CreateDevice = () => (
  <ActionButton
    label="Add device"
    title="Add an audit device"
    confirm="Add"
    tone="primary"
    act={({ text }) =>
      callSecrets('POST', `sys/audit/${encodeURIComponent(text('name'))}`, {
        body: bodyOf(text('file')),
        namespace: '',
      })
    }
    commands={[
      rootCurl('POST', NEW_DEVICE, bodyOf('/var/log/keelson/audit.log')),
      rootVaultCommand('vault audit enable file file_path=/var/log/keelson/audit.log'),
    ]}
  >
    <p>
      Where no device can write, requests are refused: a full disk stops the service. Two devices on
      different disks keep it up.
    </p>
    <Label>
      Name
      <Input name="name" required autoComplete="off" defaultValue="file" />
    </Label>
    <Label>
      File on the server
      <Input name="file" required autoComplete="off" placeholder="/var/log/keelson/audit.log" />
    </Label>
  </ActionButton>
);

export const AuditPage = () => {
  const query = useSecret<Readonly<Record<string, Device>>>('sys/audit', { namespace: '' });
  const may = useCapabilities([NEW_DEVICE], { namespace: '' });
  return (
    <Page
      title="Audit devices"
      lead="Secrets are recorded as keyed hashes."
      actions={may(NEW_DEVICE, 'update', 'sudo') && <CreateDevice />}
    >
      <Loaded query={query}>
        {(devices) => {
          const rows = Object.entries(devices ?? {});
          return rows.length === 0 ? (
            <Empty>No request is recorded: there is no audit device.</Empty>
          ) : (
            <DataTable
              label="Audit devices"
              rows={rows}
              keyOf={([path]) => path}
              columns={[
                { title: 'Name', isName: true, cell: ([path]) => path },
                { title: 'Kind', cell: ([, { type }]) => type },
                {
                  title: 'Options',
                  cell: ([, { options }]) =>
                    Object.entries(options ?? {})
                      .map(([name, value]) => `${name}=${value}`)
                      .join(', ') || '–',
                },
                {
                  title: 'Actions',
                  isActions: true,
                  cell: ([path]) =>
                    may(NEW_DEVICE, 'delete', 'sudo') && (
                      <ActionButton
                        label="Remove"
                        name={`Remove ${path}`}
                        look="small danger"
                        tone="danger"
                        title={`Stop recording to ${path}?`}
                        confirm="Remove it"
                        act={() =>
                          callSecrets('DELETE', `sys/audit/${path.replace(/\/$/, '')}`, {
                            namespace: '',
                          })
                        }
                        commands={[
                          rootCurl('DELETE', `sys/audit/${path}`),
                          rootVaultCommand(`vault audit disable ${path}`),
                        ]}
                      >
                        <p>
                          What is in the file stays. The key of its hashes is gone, so they cannot
                          be compared any more.
                        </p>
                      </ActionButton>
                    ),
                },
              ]}
            />
          );
        }}
      </Loaded>
      <Commands
        commands={[rootCurl('GET', 'sys/audit'), rootVaultCommand('vault audit list -detailed')]}
      />
      <RecentRequests count={RECENT_SHOWN} />
    </Page>
  );
};
