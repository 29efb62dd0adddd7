/** Engines of the current namespace: their lease times and their removal. */
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { durationText } from '../components/duration.ts';
import { Input, Label, Pair } from '../components/fields.tsx';
import { formatSeconds } from '../components/format.ts';
import { Lifetime } from '../components/lifetime.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Page } from '../components/page.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { secretTarget } from '../editing/edit-target.ts';

interface Mount {
  readonly type: string;
  readonly description: string;
  readonly accessor: string;
  readonly local: boolean;
  readonly config: { readonly default_lease_ttl: number; readonly max_lease_ttl: number };
}

type MountRow = Mount & { readonly path: string };

/** Engines that are part of the system and can be neither tuned nor removed here. */
const FIXED: readonly string[] = ['system', 'cubbyhole', 'identity', 'token'];

const Tune = ({ mount }: { mount: MountRow }) => {
  const path = `sys/mounts/${mount.path}`;
  return (
    <EditButton
      edits="mount"
      label="Tune"
      name={`Tune ${mount.path}`}
      look="small"
      title={`Tune ${mount.path}`}
      target={secretTarget<Mount>(`${path}/tune`, { readPath: path })}
      valuesOf={({ description, config }) => ({
        description,
        default_lease_ttl: durationText(config.default_lease_ttl),
        max_lease_ttl: durationText(config.max_lease_ttl),
      })}
      bodyOf={(changed) => changed}
      fields={(values) => (
        <>
          <Label>
            Description
            <Input name="description" autoComplete="off" defaultValue={values.description} />
          </Label>
          <Pair>
            <Lifetime
              name="default_lease_ttl"
              label="Usual validity (0: the system's)"
              value={values.default_lease_ttl}
            />
            <Lifetime
              name="max_lease_ttl"
              label="Maximum TTL (0: the system's)"
              value={values.max_lease_ttl}
            />
          </Pair>
        </>
      )}
      commands={() => [vaultCommand(`vault secrets tune -max-lease-ttl=87600h ${mount.path}`)]}
    />
  );
};

const Remove = ({ mount }: { mount: MountRow }) => (
  <ActionButton
    label="Remove"
    name={`Remove ${mount.path}`}
    look="small danger"
    tone="danger"
    title={`Remove ${mount.path} with everything in it?`}
    confirm="Remove it"
    typed={mount.path}
    act={() => callSecrets('DELETE', `sys/mounts/${mount.path}`)}
    commands={[
      secretsCurl('DELETE', `sys/mounts/${mount.path}`),
      vaultCommand(`vault secrets disable ${mount.path}`),
    ]}
  >
    <p>
      Its keys, issuers, roles and certificates are deleted, and its revocation lists are served no
      more: clients that ask for them may refuse what it has issued. It cannot be brought back.
    </p>
  </ActionButton>
);

export const MountsPage = () => {
  const query = useSecret<Readonly<Record<string, Mount>>>('sys/mounts');
  const rows = Object.entries(query.data ?? {}).map(
    ([path, mount]): MountRow => ({ ...mount, path: path.replace(/\/$/, '') }),
  );
  const may = useCapabilities(
    rows.flatMap(({ path }) => [`sys/mounts/${path}`, `sys/mounts/${path}/tune`]),
  );
  return (
    <Page title="Mounts" lead="Engines and the paths that lead to them.">
      <Loaded query={query}>
        {() => (
          <DataTable
            label="Mounts"
            rows={rows}
            keyOf={({ path }) => path}
            columns={[
              { title: 'Path', isName: true, cell: ({ path }) => `${path}/` },
              { title: 'Engine', isUnbroken: true, cell: ({ type }) => type },
              { title: 'Description', cell: ({ description }) => description || '–' },
              {
                title: 'Maximum TTL',
                cell: ({ config }) => formatSeconds(config.max_lease_ttl),
              },
              { title: 'Replicated', cell: ({ local }) => (local ? 'no' : 'yes') },
              {
                title: 'Actions',
                isActions: true,
                cell: (mount) =>
                  !FIXED.includes(mount.type) && (
                    <>
                      {may(`sys/mounts/${mount.path}/tune`, 'update') && <Tune mount={mount} />}
                      {may(`sys/mounts/${mount.path}`, 'delete') && <Remove mount={mount} />}
                    </>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      <Commands
        commands={[secretsCurl('GET', 'sys/mounts'), vaultCommand('vault secrets list -detailed')]}
      />
    </Page>
  );
};
