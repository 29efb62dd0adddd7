/** How an authority serves EST, and the form that changes it. */
import { linesOf } from '../address-lists.tsx';

/** Devices that show a certificate. */
interface CertificateAuthenticator {
  readonly accessor?: string;
  readonly cert_role?: string;
  readonly issuers?: readonly string[];
}

export interface EstConfig {
  readonly enabled: boolean;
  readonly default_mount: boolean;
  /** "sign-verbatim" or "role:NAME"; "" if requests without a label are not served. */
  readonly default_path_policy: string;
  readonly label_to_path_policy: Readonly<Record<string, string>>;
  readonly authenticators: {
    readonly cert?: CertificateAuthenticator;
    readonly userpass?: object;
  };
  readonly audit_fields: readonly string[];
  /** "" if it was never changed. */
  readonly last_updated: string;
}

/** Fields of a request that can be written to the audit log, with their words. */
export const AUDIT_FIELDS = [
  ['common_name', 'common name'],
  ['alt_names', 'DNS names and mail addresses'],
  ['ip_sans', 'IP addresses'],
  ['uri_sans', 'URIs'],
  ['other_sans', 'other names'],
  ['serial_number', 'serial number of the subject'],
  ['key_type', 'type of the key'],
  ['key_bits', 'size of the key'],
  ['csr', 'the whole certificate request'],
] as const;

type AuditField = (typeof AUDIT_FIELDS)[number][0];

const isAuditField = (name: string): name is AuditField =>
  AUDIT_FIELDS.some(([field]) => field === name);

/** Labels as lines: the label, a space, and its policy. */
const labelLines = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([label, policy]) => `${label} ${policy}`)
    .join('\n');

/** @throws Error for a line without a policy, and a label with two */
const labelsIn = (text: string): Readonly<Record<string, string>> => {
  const lines = linesOf(text).map((line) => line.split(/\s+/));
  const bad = lines.find((words) => words.length !== 2);
  if (bad !== undefined)
    throw new Error(`Write a label, a space and its policy on each line: “${bad.join(' ')}”.`);
  const twice = lines.find(([label], at) => lines.findIndex(([one]) => one === label) !== at);
  if (twice !== undefined) throw new Error(`The label ${twice[0]} has two policies.`);
  return Object.fromEntries(lines);
};

export const estValues = (config: EstConfig) => {
  const { cert, userpass } = config.authenticators;
  return {
    enabled: config.enabled,
    default_mount: config.default_mount,
    default_path_policy: config.default_path_policy,
    labels: labelLines(config.label_to_path_policy),
    takes_token: userpass !== undefined,
    takes_certificate: cert !== undefined,
    issuers: (cert?.issuers ?? []).join('\n'),
    accessor: cert?.accessor ?? '',
    cert_role: cert?.cert_role ?? '',
    ...(Object.fromEntries(
      AUDIT_FIELDS.map(([field]) => [field, config.audit_fields.includes(field)]),
    ) as Record<AuditField, boolean>),
  };
};

export type EstValues = ReturnType<typeof estValues>;

const AUTHENTICATION: readonly (keyof EstValues)[] = [
  'takes_token',
  'takes_certificate',
  'issuers',
  'accessor',
  'cert_role',
];

/** The methods of authentication are one member of the API: what was not touched stays as it is stored. */
const authenticatorsIn = (changed: Partial<EstValues>, newest: EstConfig): object => {
  const values = { ...estValues(newest), ...changed };
  return {
    ...(values.takes_token && { userpass: newest.authenticators.userpass ?? {} }),
    ...(values.takes_certificate && {
      cert: {
        issuers: linesOf(values.issuers),
        accessor: values.accessor,
        cert_role: values.cert_role,
      },
    }),
  };
};

/** @throws Error for labels that cannot be read */
export const changedEst = (changed: Partial<EstValues>, newest: EstConfig): object => {
  const entries = Object.entries(changed);
  const touched = entries.filter(([name]) => isAuditField(name));
  const kept = newest.audit_fields.filter((field) => !touched.some(([name]) => name === field));
  return {
    ...Object.fromEntries(
      entries.filter(([name]) =>
        ['enabled', 'default_mount', 'default_path_policy'].includes(name),
      ),
    ),
    ...(changed.labels !== undefined && { label_to_path_policy: labelsIn(changed.labels) }),
    ...(AUTHENTICATION.some((name) => name in changed) && {
      authenticators: authenticatorsIn(changed, newest),
    }),
    ...(touched.length > 0 && {
      audit_fields: [
        ...kept,
        ...touched.flatMap(([name, isTicked]) => (isTicked === true ? [name] : [])),
      ],
    }),
  };
};
