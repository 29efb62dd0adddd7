import { composeConfig } from '@keelson/config';
import {
  electingSettings,
  enrolledSettings,
  processSettings,
  replicationSettings,
  servingSettings,
  storeSettings,
} from '@keelson/runtime';
import { Type } from 'typebox';
import { type AcmeSettings, acmeSettingsSchema } from './acme/config/acme-settings.ts';

/** Settings of the certificate authority that hold in every form of deployment. */
export const pkiConfigSchema = acmeSettingsSchema;

export type PkiConfig = AcmeSettings;

/** Extra settings, read only when the service runs as its own process. */
export const pkiProcessConfig = composeConfig(
  pkiConfigSchema,
  servingSettings,
  storeSettings,
  electingSettings,
  enrolledSettings,
  replicationSettings,
  processSettings,
  Type.Object(
    {
      authAddresses: Type.Array(Type.String(), {
        description:
          'host:port of the service of auth methods, whose roles for certificates may say who enrolls by EST; a DNS name may resolve to several replicas.',
        default: ['auth:9000'],
      }),
    },
    { title: 'Certificate authority' },
  ),
);
