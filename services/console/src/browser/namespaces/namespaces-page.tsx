/** Namespaces directly below the current one; each has its own mounts, policies and tokens. */
import { useCapabilities, useSecretList } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { changeSession, readSession, useSession } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Page } from '../components/page.tsx';
import { Code } from '../components/text.tsx';

const LIST = 'sys/namespaces';
const ANY = 'sys/namespaces/new';

interface Namespace {
  readonly id: string;
  readonly path: string;
}

const RemoveNamespace = ({ name }: { name: string }) => (
  <ActionButton
    label="Delete"
    name={`Delete ${name}`}
    look="small danger"
    tone="danger"
    title={`Delete the namespace ${name} with everything in it?`}
    confirm="Delete it"
    typed={name}
    act={() => callSecrets('DELETE', `${LIST}/${name}`)}
    commands={[
      secretsCurl('DELETE', `${LIST}/${name}`),
      vaultCommand(`vault namespace delete ${name}`),
    ]}
  >
    <p>
      Its mounts with their keys and certificates, its policies and its tokens are gone with it, and
      cannot be brought back. Namespaces below it have to be deleted before.
    </p>
  </ActionButton>
);

export const NamespacesPage = () => {
  const { namespace } = useSession();
  const query = useSecretList<Namespace>(LIST);
  const may = useCapabilities([ANY]);
  return (
    <Page
      title="Namespaces"
      lead={`below ${namespace === '' ? 'the root' : namespace}. Each has mounts, policies and tokens of its own.`}
      actions={
        may(ANY, 'update') && (
          <ActionButton
            label="Create namespace"
            opensAt="create-namespace"
            title="Create a namespace"
            confirm="Create"
            tone="primary"
            act={({ text }) => callSecrets('POST', `${LIST}/${text('name')}`, { body: {} })}
            commands={[
              secretsCurl('POST', `${LIST}/NAME`, {}),
              vaultCommand('vault namespace create NAME'),
            ]}
          >
            <p>
              Nobody may do anything in it but tokens of the namespaces above, by their policies.
            </p>
            <Label>
              Name
              <Input name="name" required autoComplete="off" pattern="[A-Za-z0-9_\-.]+" />
            </Label>
          </ActionButton>
        )
      }
    >
      <Loaded query={query}>
        {({ keys, infos }) => (
          <DataTable
            empty="There is no namespace below this one."
            label="Namespaces"
            rows={keys.map((key) => key.replace(/\/$/, ''))}
            keyOf={(name) => name}
            columns={[
              {
                title: 'Name',
                isName: true,
                cell: (name) => (
                  <Button
                    look="link"
                    onClick={() =>
                      changeSession({
                        ...readSession(),
                        namespace: [namespace, name].filter(Boolean).join('/'),
                      })
                    }
                  >
                    {name}
                  </Button>
                ),
              },
              { title: 'Id', cell: (name) => <Code>{infos[`${name}/`]?.id ?? '–'}</Code> },
              {
                title: 'Actions',
                isActions: true,
                cell: (name) => may(ANY, 'delete') && <RemoveNamespace name={name} />,
              },
            ]}
          />
        )}
      </Loaded>
      <Commands
        commands={[secretsCurl('GET', `${LIST}?list=true`), vaultCommand('vault namespace list')]}
      />
    </Page>
  );
};
