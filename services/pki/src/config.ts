import { composeConfig } from '@keelson/config';
import {
  electingSettings,
  enrolledSettings,
  processSettings,
  replicationSettings,
  servingSettings,
  storeSettings,
} from '@keelson/runtime';
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
);
