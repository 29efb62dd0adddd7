/** Settings of a whole authority: revocation lists, addresses, ACME, tidy. */
import { getRouteApi } from '@tanstack/react-router';
import { mountAddress } from '../api/mount-address.ts';
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import commandStyles from '../components/commands.module.css';
import { secretsCurl, vaultCommand } from '../components/commands.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card } from '../components/page.tsx';
import { Pill } from '../components/pill.tsx';
import { Code } from '../components/text.tsx';
import { AcmeAccountsCard } from './acme-accounts-card.tsx';
import { type AcmeRules, AcmeRulesOf } from './acme-rules.tsx';
import { AddressesCard } from './addresses-card.tsx';
import { ClusterCard } from './cluster-card.tsx';
import { EabCard } from './eab-card.tsx';
import { RevocationCard } from './revocation-card.tsx';
import { TidyCard } from './tidy-card.tsx';

const route = getRouteApi('/ui/certificates/$mount');

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

/** Headers of answers without which no ACME client works; a mount passes none on by itself. */
const ACME_HEADERS: readonly string[] = ['Location', 'Replay-Nonce', 'Link'];

interface AcmeConfig extends AcmeRules {
  readonly enabled: boolean;
  readonly eab_policy: string;
}

/** The address under which clients reach the mount; "" if nobody has set one. */
interface ClusterConfig {
  readonly path: string;
}

interface Tuning {
  readonly allowed_response_headers?: readonly string[] | null;
}

/**
 * Enables ACME with the address that clients use, which the engine cannot determine itself. An address and headers
 * that somebody has set stay.
 */
const enablingSteps = (
  mount: string,
  cluster: ClusterConfig,
  tuning: Tuning,
): readonly AcmeStep[] => {
  const path = mountAddress(mount);
  const passed = tuning.allowed_response_headers ?? [];
  const headers = [...passed, ...ACME_HEADERS.filter((name) => !passed.includes(name))];
  return [
    ...(cluster.path === ''
      ? [
          {
            path: `${mount}/config/cluster`,
            body: { path },
            command: `vault write ${mount}/config/cluster path=${path}`,
          },
        ]
      : []),
    {
      path: `sys/mounts/${mount}/tune`,
      body: { allowed_response_headers: headers },
      command: `vault secrets tune ${headers
        .map((name) => `-allowed-response-headers=${name}`)
        .join(' ')} ${mount}`,
    },
    switchStep(mount, true),
  ];
};

const takeSteps = async (steps: readonly AcmeStep[]): Promise<void> => {
  for (const { path, body } of steps) await callSecrets('POST', path, { body });
};

const SwitchAcme = (props: { mount: string; isEnabled: boolean; address: string }) => {
  const { mount, isEnabled, address } = props;
  const [cluster, tune] = [`${mount}/config/cluster`, `sys/mounts/${mount}/tune`];
  const { data: clusterConfig } = useSecret<ClusterConfig>(cluster);
  const { data: tuning } = useSecret<Tuning>(tune);
  const may = useCapabilities([cluster, tune, `${mount}/config/acme`]);
  const mayEnable = [cluster, tune, `${mount}/config/acme`].every((path) => may(path, 'update'));
  if (!mayEnable || !clusterConfig || !tuning) return null;
  const steps = isEnabled
    ? [switchStep(mount, false)]
    : enablingSteps(mount, clusterConfig, tuning);
  return (
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
          : `Whoever proves to hold a name gets a certificate for it, without a token, unless a role or a policy narrows it. Its address is ${address}: clients must reach it.`}
      </p>
    </ActionButton>
  );
};

const Acme = ({ mount }: { mount: string }) => {
  const query = useSecret<AcmeConfig>(`${mount}/config/acme`);
  const { data: cluster } = useSecret<ClusterConfig>(`${mount}/config/cluster`);
  const address = cluster?.path || mountAddress(mount);
  const directory = `${address}/acme/directory`;
  const isEnabled = query.data?.enabled === true;
  const policy = query.data?.eab_policy ?? '';
  return (
    <>
      <Card
        title="ACME"
        actions={<Pill tone={isEnabled ? 'good' : 'plain'}>{isEnabled ? 'on' : 'off'}</Pill>}
      >
        <Loaded query={query}>
          {(config) => (
            <>
              {isEnabled && (
                <>
                  <p>
                    Clients get certificates from <Code>{directory}</Code>.
                  </p>
                  {clientLines(directory).map(([tool, text]) => (
                    <div className={commandStyles['command']} key={tool}>
                      <span className={commandStyles['tool']}>{tool}</span>
                      <Code className={commandStyles['text']}>{text}</Code>
                      <CopyButton text={text} label={`Copy the lines for ${tool}`} />
                    </div>
                  ))}
                </>
              )}
              {isEnabled && config !== null && <AcmeRulesOf mount={mount} rules={config} />}
              <SwitchAcme mount={mount} isEnabled={isEnabled} address={address} />
            </>
          )}
        </Loaded>
      </Card>
      {isEnabled && (
        <>
          <EabCard mount={mount} policy={policy} />
          <AcmeAccountsCard mount={mount} />
        </>
      )}
    </>
  );
};

/** The cards by what the token must be able to read for each. */
const CARDS = [
  ['config/acme', Acme],
  ['config/crl', RevocationCard],
  ['config/urls', AddressesCard],
  ['config/cluster', ClusterCard],
  ['tidy-status', TidyCard],
] as const;

export const SettingsTab = () => {
  const { mount } = route.useParams();
  const may = useCapabilities(CARDS.map(([path]) => `${mount}/${path}`));
  return CARDS.filter(([path]) => may(`${mount}/${path}`, 'read')).map(([path, Content]) => (
    <Content key={path} mount={mount} />
  ));
};
