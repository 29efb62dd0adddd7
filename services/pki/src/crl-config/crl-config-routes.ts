import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { field, parseDurationSeconds, propertiesOf, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { crlConfigDocument } from './crl-config-document.ts';
import { updateCrlConfig } from './crl-config-operations.ts';
import { loadCrlConfig } from './crl-config-records.ts';
import { type CrlConfig, checkCrlConfig } from './domain/crl-config.ts';
import type { ListRebuilding } from './list-rebuilding.ts';

const FIELDS = {
  expiry: field.string({ description: 'Validity of lists.' }),
  disable: field.bool({ description: 'Keep the lists empty.' }),
  ocsp_disable: field.bool({ description: 'Refuse OCSP requests.' }),
  ocsp_expiry: field.string({
    description: 'Validity of OCSP answers; 0: answers do not state it.',
  }),
  auto_rebuild: field.bool({ description: 'Rebuild before expiry, not at each revocation.' }),
  auto_rebuild_grace_period: field.string({ description: 'How long before expiry.' }),
  enable_delta: field.bool({ description: 'Make delta lists.' }),
  delta_rebuild_interval: field.string({ description: 'Time between delta lists.' }),
  max_crl_entries: field.integer({
    description: 'Maximum number of entries in a CRL; -1: no limit.',
  }),
  allow_expired_cert_revocation: field.bool({ description: 'Revoke expired certificates too.' }),
  cross_cluster_revocation: field.bool({ description: 'Ask other clusters for unknown serials.' }),
  unified_crl: field.bool({ description: 'One CRL for all clusters.' }),
  unified_crl_on_existing_paths: field.bool({ description: 'Serve it on the ordinary paths.' }),
};

const durationOf = (name: string, text: string): number => {
  const seconds = parseDurationSeconds(text);
  if (seconds === undefined || seconds < 0)
    throw new KeelsonError('request.invalid', {
      text: `given ${name} could not be decoded: "${text}" is not a duration`,
    });
  return seconds;
};

export interface CrlConfigParts {
  readonly store: Store;
  readonly crlBuilder: ListRebuilding;
}

export const crlConfigRoutes = ({ store, crlBuilder }: CrlConfigParts): Route[] =>
  secretsRoutes({
    path: '/config/crl',
    tag: 'configuration',
    hasSettings: true,
    fields: FIELDS,
    operations: {
      read: {
        summary: 'Read how lists are made',
        answer: { data: propertiesOf(FIELDS) },
        handle: async (context) => ({
          data: crlConfigDocument(await loadCrlConfig(store, requireMount(context))),
        }),
      },
      update: {
        summary: 'Change how lists are made',
        handle: async (context) => {
          const { fields } = context;
          const change = (before: CrlConfig): CrlConfig => {
            const expiry = fields.expiry ?? before.expiry;
            const grace = fields.auto_rebuild_grace_period ?? before.autoRebuildGracePeriod;
            const ocspExpiry = fields.ocsp_expiry ?? before.ocspExpiry;
            const interval = fields.delta_rebuild_interval ?? before.deltaRebuildInterval;
            return checkCrlConfig({
              expiry,
              expirySeconds: durationOf('expiry', expiry),
              disable: fields.disable ?? before.disable,
              ocspDisable: fields.ocsp_disable ?? before.ocspDisable,
              ocspExpiry,
              ocspExpirySeconds: durationOf('ocsp_expiry', ocspExpiry),
              autoRebuild: fields.auto_rebuild ?? before.autoRebuild,
              autoRebuildGracePeriod: grace,
              autoRebuildGraceSeconds: durationOf('auto_rebuild_grace_period', grace),
              enableDelta: fields.enable_delta ?? before.enableDelta,
              deltaRebuildInterval: interval,
              deltaRebuildIntervalSeconds: durationOf('delta_rebuild_interval', interval),
              maxCrlEntries: fields.max_crl_entries ?? before.maxCrlEntries,
              allowExpiredCertRevocation:
                fields.allow_expired_cert_revocation ?? before.allowExpiredCertRevocation,
              crossClusterRevocation:
                fields.cross_cluster_revocation ?? before.crossClusterRevocation,
              unifiedCrl: fields.unified_crl ?? before.unifiedCrl,
              unifiedCrlOnExistingPaths:
                fields.unified_crl_on_existing_paths ?? before.unifiedCrlOnExistingPaths,
            });
          };
          const mount = requireMount(context);
          const { config, warnings } = await updateCrlConfig(store, crlBuilder, mount, change);
          return { data: crlConfigDocument(config), warnings };
        },
      },
    },
  });
