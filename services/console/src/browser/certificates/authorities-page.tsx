/** Certificate authorities: the mounts of the pki engine that the token may see. */
import { useCapabilities, useSecret } from '../api/queries.ts';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Empty, Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { CreateAuthority } from './create-authority.tsx';

interface UiMounts {
  readonly secret?: Readonly<
    Record<string, { readonly type: string; readonly description: string }>
  >;
}

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
                    <PageLink to="/ui/certificates/$mount" params={{ mount: path }}>
                      {path}
                    </PageLink>
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
