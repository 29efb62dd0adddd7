import { useCapabilities, useSecretList } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { PolicyRules } from './policy-text.tsx';

const FIRST_TEXT = `# What the token may do, path by path.
path "pki/issue/web" {
  capabilities = ["update"]
}
`;

/** Policies of the current namespace. */
export const PoliciesPage = () => {
  const query = useSecretList('sys/policies/acl');
  const may = useCapabilities(['sys/policies/acl/new']);
  return (
    <Page
      title="Policies"
      lead="A token may do what its policies grant, and nothing else."
      actions={
        may('sys/policies/acl/new', 'update') && (
          <ActionButton
            label="Create policy"
            opensAt="create-policy"
            title="Create a policy"
            confirm="Create"
            tone="primary"
            act={({ text }) =>
              callSecrets('POST', `sys/policies/acl/${encodeURIComponent(text('name'))}`, {
                body: { policy: text('policy') },
              })
            }
            commands={[
              secretsCurl('POST', 'sys/policies/acl/NAME', { policy: '…' }),
              vaultCommand('vault policy write NAME policy.hcl'),
            ]}
          >
            <Label>
              Name
              <Input name="name" required autoComplete="off" />
            </Label>
            <PolicyRules first={FIRST_TEXT} />
          </ActionButton>
        )
      }
    >
      <Loaded query={query}>
        {({ keys }) => (
          <DataTable
            label="Policies"
            empty="There is no policy in this namespace."
            rows={keys}
            keyOf={(name) => name}
            columns={[
              {
                title: 'Name',
                isName: true,
                cell: (name) => (
                  <PageLink to="/ui/policies/$name" params={{ name }}>
                    {name}
                  </PageLink>
                ),
              },
              {
                title: 'Description',
                cell: (name) =>
                  name === 'root'
                    ? 'grants everything'
                    : name === 'default'
                      ? 'every token has it unless it is left out'
                      : '–',
              },
            ]}
          />
        )}
      </Loaded>
      <Commands
        commands={[
          secretsCurl('GET', 'sys/policies/acl?list=true'),
          vaultCommand('vault policy list'),
        ]}
      />
    </Page>
  );
};
