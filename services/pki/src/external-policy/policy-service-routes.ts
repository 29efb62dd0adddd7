import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import { type MountScope, requireMount } from '@keelson/engine';
import { field, type JsonObject, propertiesOf, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { type PolicyService, withoutPrivateKey } from './domain/policy-service.ts';
import type { PolicyCalls } from './policy-calls.ts';
import { updatePolicyService } from './policy-service-operations.ts';
import { loadPolicyService } from './policy-service-records.ts';

const FIELDS = {
  enabled: field.bool({ description: 'Serve the external-policy paths.' }),
  external_service_url: field.string({ description: 'Address of the service; https.' }),
  timeout: field.durationSeconds({ description: 'Time limit; 15s when not set.' }),
  trusted_ca: field.string({ description: 'PEM of the authorities its certificate comes from.' }),
  trusted_leaf_certificate_bundle: field.string({
    description: 'PEM of the certificates it may have, instead of trusted_ca.',
  }),
  vault_client_cert_bundle: field.string({
    description: 'PEM of the certificate and private key shown to it.',
  }),
  entity_jmespath: field.string({
    description:
      'Expression that chooses what the service learns about the requester; empty: nothing, @: everything.',
  }),
  group_jmespath: field.string({
    description:
      'Expression that chooses what the service learns about the groups of the requester.',
  }),
};

export interface PolicyServiceRouteParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly policyCalls: PolicyCalls;
}

const timeText = (epochMs: number | undefined): string =>
  epochMs === undefined || epochMs === 0 ? '' : new Date(epochMs).toISOString();

const NANOSECONDS = 1_000_000_000;

const document = (
  { policyCalls }: PolicyServiceRouteParts,
  mount: MountScope,
  service: PolicyService,
): JsonObject => {
  const health = policyCalls.healthOf(mount, service);
  return {
    enabled: service.enabled,
    external_service_url: service.url,
    timeout: service.timeoutSeconds * NANOSECONDS,
    trusted_ca: service.trustedCa,
    trusted_leaf_certificate_bundle: service.trustedLeaves,
    vault_client_cert_bundle_no_keys: withoutPrivateKey(service.clientBundle),
    entity_jmespath: service.entityExpression,
    group_jmespath: service.groupExpression,
    external_service_last_updated: timeText(service.updatedAtMs),
    external_service_validated: health.lastSuccessMs !== undefined,
    last_successful_request: timeText(health.lastSuccessMs),
    last_failed_request: timeText(health.lastFailureMs),
    last_failure: health.lastFailure,
  };
};

const text = { type: 'string' } as const;
const HEALTH_MEMBERS = {
  vault_client_cert_bundle_no_keys: text,
  external_service_last_updated: text,
  external_service_validated: { type: 'boolean' },
  last_successful_request: text,
  last_failed_request: text,
  last_failure: text,
} as const;

export const policyServiceRoutes = (parts: PolicyServiceRouteParts): Route[] =>
  secretsRoutes({
    path: '/config/external-policy',
    tag: 'configuration',
    hasSettings: true,
    fields: FIELDS,
    operations: {
      read: {
        summary: 'Read the settings and the state of the external policy service',
        answer: { data: { ...propertiesOf(FIELDS), ...HEALTH_MEMBERS } },
        handle: async (context) => {
          const mount = requireMount(context);
          return { data: document(parts, mount, await loadPolicyService(parts.store, mount)) };
        },
      },
      update: {
        summary: 'Change the settings of the external policy service',
        handle: async (context) => {
          const { fields } = context;
          const mount = requireMount(context);
          const change = (before: PolicyService): PolicyService => ({
            ...before,
            enabled: fields.enabled ?? before.enabled,
            url: fields.external_service_url ?? before.url,
            timeoutSeconds: fields.timeout ?? before.timeoutSeconds,
            trustedCa: fields.trusted_ca ?? before.trustedCa,
            trustedLeaves: fields.trusted_leaf_certificate_bundle ?? before.trustedLeaves,
            clientBundle: fields.vault_client_cert_bundle ?? before.clientBundle,
            entityExpression: fields.entity_jmespath ?? before.entityExpression,
            groupExpression: fields.group_jmespath ?? before.groupExpression,
          });
          const { store, clock } = parts;
          const nowMs = clock.nowMs();
          const { service, warnings } = await updatePolicyService(store, mount, change, nowMs);
          return { data: document(parts, mount, service), warnings };
        },
      },
    },
  });
