import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { ClientCertificatesDefinition } from '@keelson/proto/auth/v1/client_certificates';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { RpcService } from '@keelson/rpc';
import {
  field,
  isJsonObject,
  type JsonObject,
  propertiesOf,
  secretsRoutes,
} from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import {
  AUDIT_FIELDS,
  type AuditField,
  type CertificateAuthenticator,
  type EstConfig,
} from './domain/est-config.ts';
import { updateEstConfig } from './est-config-operations.ts';
import { loadEstConfig } from './est-config-records.ts';

const FIELDS = {
  enabled: field.bool({ description: 'Serve EST.' }),
  default_mount: field.bool({ description: 'Answer /.well-known/est without a label.' }),
  default_path_policy: field.string({
    description: 'Path that serves requests without a label: sign-verbatim or role:<name>.',
  }),
  label_to_path_policy: field.stringMap({ description: 'The same for each label.' }),
  authenticators: field.map({
    description: 'cert and userpass; a method that is absent is not accepted.',
  }),
  enable_sentinel_parsing: field.bool({
    description: 'false: there are no Sentinel policies.',
    check: (value) =>
      value ? 'enable_sentinel_parsing must be false: there are no Sentinel policies' : undefined,
  }),
  audit_fields: field.commaList({
    description: 'Fields of a request that are written to the audit log.',
  }),
};

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** Settings of an authenticator; unknown members are refused. */
const readAuthenticator = (
  authenticators: JsonObject,
  name: string,
  members: readonly string[],
): JsonObject | undefined => {
  const value = authenticators[name];
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) return refuse(`authenticators.${name} must be an object`);
  const unknown = Object.keys(value).find((member) => !members.includes(member));
  return unknown === undefined ? value : refuse(`authenticators.${name} has no ${unknown}`);
};

const texts = field.commaList({ default: [], description: '' });

const MAX_NAME_LENGTH = 256;

const nameIn = (authenticator: JsonObject | undefined, name: string, member: string): string => {
  const value = authenticator?.[member] ?? '';
  return typeof value === 'string' && value.length <= MAX_NAME_LENGTH
    ? value
    : refuse(
        `authenticators.${name}.${member} must be a text of at most ${MAX_NAME_LENGTH} characters`,
      );
};

const readAuthenticators = (
  authenticators: JsonObject,
): Pick<EstConfig, 'certificate' | 'acceptsBasic'> => {
  const unknown = Object.keys(authenticators).find(
    (name) => name !== 'cert' && name !== 'userpass',
  );
  if (unknown !== undefined) refuse(`there is no authenticator ${unknown}`);
  const cert = readAuthenticator(authenticators, 'cert', ['accessor', 'cert_role', 'issuers']);
  const userpass = readAuthenticator(authenticators, 'userpass', ['accessor']);
  // An accepted setting must have its effect.
  if (nameIn(userpass, 'userpass', 'accessor') !== '')
    refuse(
      'authenticators.userpass.accessor must be empty or absent: the password of HTTP Basic is a token, whose policies decide',
    );
  const accessor = nameIn(cert, 'cert', 'accessor');
  const role = nameIn(cert, 'cert', 'cert_role');
  if (role !== '' && accessor === '')
    refuse('authenticators.cert.cert_role needs the accessor of the mount of the role');
  return {
    certificate: cert && { issuers: texts.read('issuers', cert['issuers']), accessor, role },
    acceptsBasic: userpass !== undefined,
  };
};

/** @throws KeelsonError `request.invalid` when the auth method that says who may enroll does not exist */
const requireAuthMethod = async (
  { clientCertificates }: EstConfigRouteParts,
  { namespace }: Mount,
  { accessor, role }: CertificateAuthenticator,
): Promise<void> => {
  if (accessor === '') return;
  const asked = { namespaceId: namespace?.id ?? '', accessor, role };
  const { hasMount, hasRole } = await clientCertificates.findRole(asked);
  if (!hasMount)
    refuse(
      `authenticators.cert.accessor: no mount of type cert in this namespace has the accessor ${accessor}`,
    );
  if (!hasRole) refuse(`authenticators.cert.cert_role: there is no role ${role}`);
};

const readAuditFields = (names: readonly string[]): readonly AuditField[] =>
  names.map(
    (name) =>
      AUDIT_FIELDS.find((known) => known === name) ?? refuse(`there is no audit field ${name}`),
  );

const document = (config: EstConfig): JsonObject => ({
  enabled: config.enabled,
  default_mount: config.defaultMount,
  default_path_policy: config.defaultPathPolicy,
  label_to_path_policy: config.labelToPathPolicy,
  authenticators: {
    ...(config.certificate && {
      cert: {
        accessor: config.certificate.accessor,
        cert_role: config.certificate.role,
        // A Terraform provider reads a map of strings here, not a list.
        ...(config.certificate.issuers.length > 0 && { issuers: config.certificate.issuers }),
      },
    }),
    ...(config.acceptsBasic && { userpass: { accessor: '' } }),
  },
  enable_sentinel_parsing: config.enableSentinelParsing,
  audit_fields: config.auditFields,
  last_updated: config.updatedAtMs === 0 ? '' : new Date(config.updatedAtMs).toISOString(),
});

export interface EstConfigRouteParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly clientCertificates: RpcService<typeof ClientCertificatesDefinition>;
}

export const estConfigRoutes = (parts: EstConfigRouteParts): Route[] => {
  const { store, clock } = parts;
  return secretsRoutes({
    path: '/config/est',
    tag: 'configuration',
    hasSettings: true,
    fields: FIELDS,
    operations: {
      read: {
        summary: 'Read how EST is served',
        answer: { data: { ...propertiesOf(FIELDS), last_updated: { type: 'string' } } },
        handle: async (context) => ({
          data: document(await loadEstConfig(store, requireMount(context))),
        }),
      },
      update: {
        summary: 'Change how EST is served',
        handle: async (context) => {
          const { fields } = context;
          const mount = requireMount(context);
          const given = fields.authenticators && readAuthenticators(fields.authenticators);
          if (given?.certificate) await requireAuthMethod(parts, mount, given.certificate);
          const change = (before: EstConfig): EstConfig => ({
            ...before,
            enabled: fields.enabled ?? before.enabled,
            defaultMount: fields.default_mount ?? before.defaultMount,
            defaultPathPolicy: fields.default_path_policy ?? before.defaultPathPolicy,
            labelToPathPolicy: fields.label_to_path_policy ?? before.labelToPathPolicy,
            ...given,
            enableSentinelParsing: fields.enable_sentinel_parsing ?? before.enableSentinelParsing,
            auditFields:
              fields.audit_fields === undefined
                ? before.auditFields
                : readAuditFields(fields.audit_fields),
          });
          const nowMs = clock.nowMs();
          const { config, warnings } = await updateEstConfig(store, mount, change, nowMs);
          return { data: document(config), warnings };
        },
      },
    },
  });
};
