/** Keys for external account binding: each lets one ACME client open an account. */
import { useState } from 'react';
import { useCapabilities, useSecretList } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Callout } from '../components/callout.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { DataTable } from '../components/data-table.tsx';
import { FormActions, Label } from '../components/fields.tsx';
import { formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card } from '../components/page.tsx';
import { Secret } from '../components/secret.tsx';
import { Select } from '../components/select.tsx';
import { Code } from '../components/text.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { secretTarget } from '../editing/edit-target.ts';

interface KeyInfo {
  readonly created_on: string;
  readonly acme_directory: string;
}

interface NewKey {
  readonly id: string;
  readonly key: string;
}

const POLICIES = {
  'not-required': 'accounts need no key',
  'new-account-required': 'a new account needs a key',
  'always-required': 'every account needs a key',
} as const;

const policyWords = (policy: string): string => POLICIES[policy as keyof typeof POLICIES] ?? policy;

export const EabCard = ({ mount, policy }: { mount: string; policy: string }) => {
  const [made, setMade] = useState<NewKey>();
  const create = `${mount}/acme/new-eab`;
  const config = `${mount}/config/acme`;
  const query = useSecretList<KeyInfo>(`${mount}/eab`);
  const may = useCapabilities([create, config, `${mount}/eab/one`]);
  return (
    <Card title="Keys for ACME accounts">
      <p>
        At present {policyWords(policy)}. A key is used up by the account that is opened with it.
      </p>
      {made !== undefined && (
        <Callout role="status" aria-label="New key">
          <p>The key is shown now and never again. The client gets both parts.</p>
          <p>
            Id <Secret>{made.id}</Secret> <CopyButton text={made.id} label="Copy the id" />
          </p>
          <p>
            Key <Secret>{made.key}</Secret> <CopyButton text={made.key} label="Copy the key" />
          </p>
        </Callout>
      )}
      <FormActions>
        {may(create, 'update') && (
          <ActionButton
            label="Create a key"
            title="Create a key for one ACME account"
            confirm="Create it"
            act={async () =>
              setMade((await callSecrets<{ data: NewKey }>('POST', create, { body: {} })).data)
            }
            commands={[
              secretsCurl('POST', create, {}),
              vaultCommand(`vault write -f ${create}`),
              {
                tool: 'certbot',
                text: 'certbot register --eab-kid ID --eab-hmac-key KEY --server DIRECTORY',
              },
            ]}
          >
            <p>Whoever has it may open one account of this authority.</p>
          </ActionButton>
        )}
        {may(config, 'update') && (
          <EditButton
            edits="account-keys"
            label="Change when they are required"
            title="When are keys required?"
            target={secretTarget<{ readonly eab_policy: string }>(config)}
            valuesOf={(acme) => ({ eab_policy: acme.eab_policy })}
            bodyOf={(changed) => changed}
            fields={(values) => (
              <Label>
                Rule
                <Select
                  name="eab_policy"
                  value={values.eab_policy}
                  options={Object.entries(POLICIES)}
                />
              </Label>
            )}
            commands={() => [vaultCommand(`vault write ${config} eab_policy=new-account-required`)]}
          />
        )}
      </FormActions>
      <Loaded query={query}>
        {({ keys, infos }) => (
          <DataTable
            empty="There is no unused key."
            label="Unused keys"
            rows={keys}
            keyOf={(id) => id}
            columns={[
              { title: 'Id', isName: true, cell: (id) => <Code isSmall>{id}</Code> },
              { title: 'Made', cell: (id) => formatTime(infos[id]?.created_on) },
              { title: 'Directory', cell: (id) => infos[id]?.acme_directory ?? '–' },
              {
                title: 'Actions',
                isActions: true,
                cell: (id) =>
                  may(`${mount}/eab/one`, 'delete') && (
                    <ActionButton
                      label="Delete"
                      name={`Delete the key ${id}`}
                      look="small danger"
                      tone="danger"
                      title="Delete this key?"
                      confirm="Delete it"
                      act={() => callSecrets('DELETE', `${mount}/eab/${id}`)}
                      commands={[
                        secretsCurl('DELETE', `${mount}/eab/${id}`),
                        vaultCommand(`vault delete ${mount}/eab/${id}`),
                      ]}
                    >
                      <p>No account can be opened with it any more.</p>
                    </ActionButton>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      <Commands
        commands={[
          secretsCurl('GET', `${mount}/eab?list=true`),
          vaultCommand(`vault list ${mount}/eab`),
        ]}
      />
    </Card>
  );
};
