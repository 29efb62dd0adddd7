/** Certificate authorities: the mounts of the pki engine that the token may see. */
import { Link } from '@tanstack/react-router';
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Empty, Page } from '../components/page.tsx';

interface UiMounts {
  readonly secret?: Readonly<
    Record<string, { readonly type: string; readonly description: string }>
  >;
}

const mountBody = (description: string): object => ({
  type: 'pki',
  description,
  config: { max_lease_ttl: '87600h' },
});

const rootBody = (name: string): object => ({
  common_name: name,
  key_type: 'ec',
  ttl: '87600h',
});

/** Mounts the engine and generates its first root. */
const createAuthority = async (path: string, name: string): Promise<void> => {
  await callSecrets('POST', `sys/mounts/${path}`, { body: mountBody(name) });
  await callSecrets('POST', `${path}/root/generate/internal`, { body: rootBody(name) });
};

const CreateAuthority = () => (
  <ActionButton
    label="Create authority"
    title="Create a certificate authority"
    confirm="Create"
    tone="primary"
    act={({ text }) => createAuthority(text('path'), text('name'))}
    commands={[
      secretsCurl('POST', 'sys/mounts/pki', mountBody('…')),
      secretsCurl('POST', 'pki/root/generate/internal', rootBody('…')),
      vaultCommand('vault secrets enable -max-lease-ttl=87600h pki'),
      vaultCommand('vault write pki/root/generate/internal common_name=… key_type=ec ttl=87600h'),
    ]}
  >
    <p>An engine of its own with a root that is valid for ten years; its key never leaves it.</p>
    <label>
      Path
      <input name="path" required autoComplete="off" defaultValue="pki" pattern="[A-Za-z0-9_\-]+" />
    </label>
    <label>
      Name of the root
      <input name="name" required autoComplete="off" placeholder="Example Root" />
    </label>
  </ActionButton>
);

export const AuthoritiesPage = () => {
  const query = useSecret<UiMounts>('sys/internal/ui/mounts');
  const may = useCapabilities(['sys/mounts/pki']);
  return (
    <Page
      title="Certificate authorities"
      lead="Each has issuers, roles and certificates of its own."
      actions={may('sys/mounts/pki', 'update') && <CreateAuthority />}
    >
      <Loaded query={query}>
        {(mounts) => {
          const rows = Object.entries(mounts?.secret ?? {})
            .filter(([, { type }]) => type === 'pki')
            .map(([path, { description }]) => ({ path: path.replace(/\/$/, ''), description }));
          return rows.length === 0 ? (
            <Empty>There is no authority in this namespace that this token may see.</Empty>
          ) : (
            <DataTable
              label="Authorities"
              rows={rows}
              keyOf={({ path }) => path}
              columns={[
                {
                  title: 'Path',
                  isName: true,
                  cell: ({ path }) => (
                    <Link to="/ui/certificates/$mount" params={{ mount: path }}>
                      {path}
                    </Link>
                  ),
                },
                { title: 'Description', cell: ({ description }) => description || '–' },
              ]}
            />
          );
        }}
      </Loaded>
      <Commands
        commands={[
          secretsCurl('GET', 'sys/internal/ui/mounts'),
          vaultCommand('vault secrets list'),
        ]}
      />
    </Page>
  );
};
