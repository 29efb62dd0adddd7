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

const addressesOf = (mount: string): readonly (readonly [string, string])[] => [
  ['issuing_certificates', `${location.origin}/v1/${mount}/ca`],
  ['crl_distribution_points', `${location.origin}/v1/${mount}/crl`],
  ['ocsp_servers', `${location.origin}/v1/${mount}/ocsp`],
];

const EditAddresses = ({ mount }: { mount: string }) => {
  const path = `${mount}/config/urls`;
  const may = useCapabilities([path]);
  if (!may(path, 'update')) return null;
  const addresses = addressesOf(mount);
  const body = Object.fromEntries(addresses.map(([name, address]) => [name, [address]]));
  return (
    <div className="form-actions">
      <ActionButton
        label="Use the addresses of this server"
        title="Write the addresses of this server into certificates?"
        confirm="Use them"
        act={() => callSecrets('POST', path, { body })}
        commands={[
          secretsCurl('POST', path, body),
          vaultCommand(
            `vault write ${path} ${addresses.map(([name, address]) => `${name}=${address}`).join(' ')}`,
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

interface AcmeStep {
  readonly path: string;
  readonly body: object;
  /** The same step for the compatible command line. */
  readonly command: string;
}

const switchStep = (mount: string, enabled: boolean): AcmeStep => ({
  path: `${mount}/config/acme`,
  body: { enabled },
  command: `vault write ${mount}/config/acme enabled=${enabled}`,
});

const ACME_HEADERS = ['Location', 'Replay-Nonce', 'Link'];

/** Enables ACME with the URL that clients use, which the engine cannot determine itself. */
const enablingSteps = (mount: string): readonly AcmeStep[] => {
  const path = `${location.origin}/v1/${mount}`;
  const headers = ACME_HEADERS.map((name) => `-allowed-response-headers=${name}`);
  return [
    {
      path: `${mount}/config/cluster`,
      body: { path },
      command: `vault write ${mount}/config/cluster path=${path}`,
    },
    {
      path: `sys/mounts/${mount}/tune`,
      body: { allowed_response_headers: ACME_HEADERS },
      command: `vault secrets tune ${headers.join(' ')} ${mount}`,
    },
    switchStep(mount, true),
  ];
};

const takeSteps = async (steps: readonly AcmeStep[]): Promise<void> => {
  for (const { path, body } of steps) await callSecrets('POST', path, { body });
};

const Acme = ({ mount }: { mount: string }) => {
  const query = useSecret<{ readonly enabled: boolean; readonly eab_policy: string }>(
    `${mount}/config/acme`,
  );
  const paths = enablingSteps(mount).map(({ path }) => path);
  const may = useCapabilities(paths);
  const mayEnable = paths.every((path) => may(path, 'update'));
  const directory = `${location.origin}/v1/${mount}/acme/directory`;
  const isEnabled = query.data?.enabled === true;
  const steps = isEnabled ? [switchStep(mount, false)] : enablingSteps(mount);
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
                  act={() => takeSteps(steps)}
                  commands={steps.flatMap(({ path, body, command }) => [
                    secretsCurl('POST', path, body),
                    vaultCommand(command),
                  ])}
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
