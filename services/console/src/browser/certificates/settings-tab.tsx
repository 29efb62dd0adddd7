/** Settings of a whole authority: revocation lists, addresses, ACME, tidy. */
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { FactList } from '../components/data-table.tsx';
import { inWords } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card } from '../components/page.tsx';
import { Pill } from '../components/pill.tsx';
import { AcmeAccountsCard } from './acme-accounts-card.tsx';
import { EabCard } from './eab-card.tsx';
import { RevocationCard } from './revocation-card.tsx';
import { TidyCard } from './tidy-card.tsx';

const route = getRouteApi('/ui/certificates/$mount');

type Settings = Readonly<Record<string, unknown>>;

const shown = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return '–';
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const SettingsCard = (props: { title: string; path: string; children: ReactNode }) => {
  const query = useSecret<Settings>(props.path);
  return (
    <Card title={props.title}>
      <Loaded query={query}>
        {(settings) => (
          <FactList
            facts={Object.entries(settings ?? {}).map(
              ([name, value]) => [inWords(name), shown(value)] as const,
            )}
          />
        )}
      </Loaded>
      {props.children}
      <Commands
        commands={[secretsCurl('GET', props.path), vaultCommand(`vault read ${props.path}`)]}
      />
    </Card>
  );
};

const addressesOf = (mount: string): object => ({
  issuing_certificates: [`${location.origin}/v1/${mount}/ca`],
  crl_distribution_points: [`${location.origin}/v1/${mount}/crl`],
  ocsp_servers: [`${location.origin}/v1/${mount}/ocsp`],
});

const EditAddresses = ({ mount }: { mount: string }) => {
  const path = `${mount}/config/urls`;
  const may = useCapabilities([path]);
  if (!may(path, 'update')) return null;
  return (
    <div className="form-actions">
      <ActionButton
        label="Use the addresses of this server"
        title="Write the addresses of this server into certificates?"
        confirm="Use them"
        act={() => callSecrets('POST', path, { body: addressesOf(mount) })}
        commands={[
          secretsCurl('POST', path, addressesOf(mount)),
          vaultCommand(
            `vault write ${path} crl_distribution_points=${location.origin}/v1/${mount}/crl`,
          ),
        ]}
      >
        <p>
          Certificates issued from now on name {location.origin} for their issuer, its revocation
          list and OCSP. Clients must reach it under this name; what was issued stays as it is.
        </p>
      </ActionButton>
    </div>
  );
};

const clientLines = (directory: string): readonly (readonly [string, string])[] => [
  ['certbot', `certbot certonly --standalone --server ${directory} -d www.example.com`],
  ['lego', `lego --server ${directory} --email you@example.com -d www.example.com --http run`],
  ['Caddy', `{\n  acme_ca ${directory}\n}`],
  [
    'cert-manager',
    `apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata:\n  name: keelson\nspec:\n  acme:\n    server: ${directory}\n    privateKeySecretRef:\n      name: keelson-account\n    solvers:\n      - http01:\n          ingress: {}`,
  ],
  ['step', `step ca certificate www.example.com crt key --acme ${directory} --standalone`],
];

/** Enables ACME with the URL that clients use, which the engine cannot determine itself. */
const enableAcme = async (mount: string): Promise<void> => {
  const path = `${location.origin}/v1/${mount}`;
  await callSecrets('POST', `${mount}/config/cluster`, { body: { path } });
  await callSecrets('POST', `sys/mounts/${mount}/tune`, {
    body: { allowed_response_headers: ['Location', 'Replay-Nonce', 'Link'] },
  });
  await callSecrets('POST', `${mount}/config/acme`, { body: { enabled: true } });
};

const Acme = ({ mount }: { mount: string }) => {
  const query = useSecret<{ readonly enabled: boolean; readonly eab_policy: string }>(
    `${mount}/config/acme`,
  );
  const may = useCapabilities([
    `${mount}/config/acme`,
    `${mount}/config/cluster`,
    `sys/mounts/${mount}/tune`,
  ]);
  const mayEnable =
    may(`${mount}/config/acme`, 'update') &&
    may(`${mount}/config/cluster`, 'update') &&
    may(`sys/mounts/${mount}/tune`, 'update');
  const directory = `${location.origin}/v1/${mount}/acme/directory`;
  const isEnabled = query.data?.enabled === true;
  return (
    <>
      <Card
        title="ACME"
        actions={<Pill tone={isEnabled ? 'good' : 'plain'}>{isEnabled ? 'on' : 'off'}</Pill>}
      >
        <Loaded query={query}>
          {(acme) => (
            <>
              {isEnabled && (
                <>
                  <p>
                    Clients get certificates from <code>{directory}</code>. Accounts need a token of
                    this authority: {acme?.eab_policy}.
                  </p>
                  {clientLines(directory).map(([tool, text]) => (
                    <div className="command" key={tool}>
                      <span className="tool">{tool}</span>
                      <code>{text}</code>
                      <CopyButton text={text} label={`Copy the lines for ${tool}`} />
                    </div>
                  ))}
                </>
              )}
              {mayEnable && (
                <ActionButton
                  label={isEnabled ? 'Switch it off' : 'Switch it on'}
                  title={isEnabled ? 'Switch ACME off?' : 'Switch ACME on?'}
                  confirm={isEnabled ? 'Switch it off' : 'Switch it on'}
                  tone={isEnabled ? 'danger' : 'primary'}
                  act={() =>
                    isEnabled
                      ? callSecrets('POST', `${mount}/config/acme`, { body: { enabled: false } })
                      : enableAcme(mount)
                  }
                  commands={[
                    secretsCurl('POST', `${mount}/config/cluster`, {
                      path: `${location.origin}/v1/${mount}`,
                    }),
                    secretsCurl('POST', `${mount}/config/acme`, { enabled: !isEnabled }),
                    vaultCommand(`vault write ${mount}/config/acme enabled=${!isEnabled}`),
                  ]}
                >
                  <p>
                    {isEnabled
                      ? 'Clients renew nothing any more. What they have stays valid until it expires.'
                      : `Whoever proves to hold a name gets a certificate for it, without a token, unless a role or a policy narrows it. Its address is set to ${location.origin}/v1/${mount}: clients must reach it.`}
                  </p>
                </ActionButton>
              )}
            </>
          )}
        </Loaded>
      </Card>
      {isEnabled && (
        <>
          <EabCard mount={mount} policy={query.data?.eab_policy ?? ''} />
          <AcmeAccountsCard mount={mount} />
        </>
      )}
    </>
  );
};

export const SettingsTab = () => {
  const { mount } = route.useParams();
  return (
    <>
      <Acme mount={mount} />
      <RevocationCard mount={mount} />
      <SettingsCard title="Addresses in certificates" path={`${mount}/config/urls`}>
        <EditAddresses mount={mount} />
      </SettingsCard>
      <TidyCard mount={mount} />
    </>
  );
};
