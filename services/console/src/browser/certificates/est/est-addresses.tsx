/** The addresses at which devices enroll, and the commands of a first one. */
import { type Command, Commands } from '../../components/commands.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Code, Hint } from '../../components/text.tsx';
import type { EstConfig } from './est-config.ts';

interface Served {
  /** "" for requests without a label. */
  readonly label: string;
  readonly policy: string;
}

const servedBy = (config: EstConfig): readonly Served[] => [
  ...(config.default_mount && config.default_path_policy !== ''
    ? [{ label: '', policy: config.default_path_policy }]
    : []),
  ...Object.entries(config.label_to_path_policy)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([label, policy]) => ({ label, policy })),
];

/** A label belongs to one authority of the cluster, so that the address has no namespace. */
const addressOf = (label: string): string =>
  `${location.origin}/.well-known/est${label === '' ? '' : `/${label}`}`;

const policyWords = (policy: string): string =>
  policy === 'sign-verbatim' ? 'the request as it is' : policy.replace(/^role:/, 'the role ');

/** From the certificates of the authority to that of a device, by programs that are everywhere. */
const enrolment = (label: string): readonly Command[] => {
  const address = addressOf(label);
  const server = `${location.hostname}:${location.port || (location.protocol === 'https:' ? '443' : '80')}`;
  const segment = label === '' ? '' : ` -aps ${label}`;
  return [
    {
      tool: 'curl',
      text: `curl -sf ${address}/cacerts | base64 -d | openssl pkcs7 -inform DER -print_certs > authority.pem`,
    },
    {
      tool: 'openssl',
      text: 'openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=device-1 -keyout device.key -outform DER | base64 > device.p10',
    },
    {
      tool: 'curl',
      text: `curl -sf --user "device:$TOKEN" -H 'Content-Type: application/pkcs10' --data-binary @device.p10 ${address}/simpleenroll | base64 -d | openssl pkcs7 -inform DER -print_certs > device.pem`,
    },
    {
      tool: 'estclient',
      text: `estclient enroll -server ${server}${segment} -explicit server-ca.pem -user device -pass "$TOKEN" -key device.key -cn device-1 -out device.pem`,
    },
  ];
};

export const EstAddresses = ({ config }: { config: EstConfig }) => {
  const served = servedBy(config);
  const [first] = served;
  return (
    <>
      <DataTable
        label="Addresses of EST"
        empty="No address is served: choose a policy for requests without a label, or add a label."
        rows={served}
        keyOf={({ label }) => label}
        columns={[
          { title: 'Label', isName: true, cell: ({ label }) => label || 'without a label' },
          { title: 'Decided by', cell: ({ policy }) => policyWords(policy) },
          {
            title: 'Address',
            cell: ({ label }) => (
              <>
                <Code>{addressOf(label)}</Code>{' '}
                <CopyButton
                  text={addressOf(label)}
                  label={`Copy the address ${label === '' ? 'without a label' : `of ${label}`}`}
                />
              </>
            ),
          },
        ]}
      />
      {first !== undefined && config.enabled && (
        <>
          {location.protocol !== 'https:' && (
            <Hint>
              This page was not opened by TLS. Devices need TLS: in their addresses, write https and
              the name and port of the server for it.
            </Hint>
          )}
          <Commands commands={enrolment(first.label)} />
        </>
      )}
    </>
  );
};
