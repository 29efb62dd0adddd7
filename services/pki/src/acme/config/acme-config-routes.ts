import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { field, type JsonObject, propertiesOf, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import type { Authorities } from '../../issuers/issuer-records.ts';
import {
  type AcmeConfigs,
  CLUSTER_PATH_NEEDED,
  PUBLIC_ACME_DISABLED,
  updateAcmeConfig,
} from './acme-config-operations.ts';
import { type AcmeConfig, DEFAULT_ACME_CONFIG, requireEabPolicy } from './domain/acme-config.ts';

const FIELDS = {
  enabled: field.bool({ description: 'Serve ACME.' }),
  allowed_issuers: field.commaList({
    description: 'Issuers that directory paths may name; * for all.',
  }),
  allowed_roles: field.commaList({
    description: 'Roles that directory paths may name; * for all.',
  }),
  allow_role_ext_key_usage: field.bool({
    description: "The role's extended key usages instead of server authentication only.",
  }),
  default_directory_policy: field.string({
    description: 'forbid, sign-verbatim, role:<name> or external-policy[:<policy>].',
  }),
  dns_resolver: field.string({
    description: 'Address and port; empty: the resolver of the system.',
  }),
  eab_policy: field.string({
    description: 'not-required, new-account-required or always-required.',
  }),
  max_ttl: field.durationSeconds({ description: 'Longest lifetime of certificates.' }),
  challenge_permitted_ip_ranges: field.commaList({
    description: 'When given, challenges connect to these ranges only.',
  }),
  challenge_excluded_ip_ranges: field.commaList({
    description: 'Ranges that challenges never connect to.',
  }),
};

const document = (config: AcmeConfig): JsonObject => ({
  enabled: config.enabled,
  allowed_issuers: config.allowedIssuers,
  allowed_roles: config.allowedRoles,
  allow_role_ext_key_usage: config.allowRoleExtKeyUsage,
  default_directory_policy: config.defaultDirectoryPolicy,
  dns_resolver: config.dnsResolver,
  eab_policy: config.eabPolicy,
  max_ttl: config.maxTtlSeconds,
  challenge_permitted_ip_ranges: config.challengePermittedIpRanges,
  challenge_excluded_ip_ranges: config.challengeExcludedIpRanges,
});

export interface AcmeConfigRouteParts {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly configs: AcmeConfigs;
  readonly isPublicDisabled: boolean;
}

export const acmeConfigRoutes = (parts: AcmeConfigRouteParts): Route[] => {
  const { store, authorities, configs, isPublicDisabled } = parts;
  return secretsRoutes({
    path: '/config/acme',
    tag: 'configuration',
    hasSettings: true,
    fields: FIELDS,
    operations: {
      read: {
        summary: 'Read how ACME is served',
        answer: { data: propertiesOf(FIELDS) },
        handle: async (context) => {
          const mount = requireMount(context);
          const config = await configs.stored(mount);
          const inEffect = await configs.of(mount);
          const { cluster } = (await authorities.of(mount)).settings;
          const warnings = [
            ...(config.enabled && cluster.path === '' ? [CLUSTER_PATH_NEEDED] : []),
            ...(config.eabPolicy === inEffect.eabPolicy ? [] : [PUBLIC_ACME_DISABLED]),
          ];
          return { data: document(config), warnings };
        },
      },
      update: {
        summary: 'Change how ACME is served',
        handle: async (context) => {
          const { fields } = context;
          const { config, warnings } = await updateAcmeConfig(store, {
            mount: requireMount(context),
            isPublicDisabled,
            change: (before) => ({
              enabled: fields.enabled ?? before.enabled,
              allowedIssuers: fields.allowed_issuers ?? before.allowedIssuers,
              allowedRoles: fields.allowed_roles ?? before.allowedRoles,
              allowRoleExtKeyUsage: fields.allow_role_ext_key_usage ?? before.allowRoleExtKeyUsage,
              defaultDirectoryPolicy:
                fields.default_directory_policy ?? before.defaultDirectoryPolicy,
              dnsResolver: fields.dns_resolver ?? before.dnsResolver,
              eabPolicy:
                fields.eab_policy === undefined
                  ? before.eabPolicy
                  : requireEabPolicy(fields.eab_policy),
              // The specification's default is the empty text: 90 days.
              maxTtlSeconds:
                context.data['max_ttl'] === ''
                  ? DEFAULT_ACME_CONFIG.maxTtlSeconds
                  : (fields.max_ttl ?? before.maxTtlSeconds),
              challengePermittedIpRanges:
                fields.challenge_permitted_ip_ranges ?? before.challengePermittedIpRanges,
              challengeExcludedIpRanges:
                fields.challenge_excluded_ip_ranges ?? before.challengeExcludedIpRanges,
            }),
          });
          return { data: document(config), warnings };
        },
      },
    },
  });
};
