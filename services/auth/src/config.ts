import { composeConfig } from '@keelson/config';
import { outboundSettings } from '@keelson/outbound/settings';
import {
  electingSettings,
  enrolledSettings,
  processSettings,
  replicationSettings,
  servingSettings,
  storeSettings,
} from '@keelson/runtime';
import type { Type } from 'typebox';

/** Settings of the auth methods that apply in every mode. */
export const authConfigSchema = composeConfig(outboundSettings);

export type AuthConfig = Readonly<Type.Static<typeof authConfigSchema>>;

/** Settings, read only when the service runs as its own process. */
export const authProcessConfig = composeConfig(
  outboundSettings,
  servingSettings,
  storeSettings,
  electingSettings,
  enrolledSettings,
  replicationSettings,
  processSettings,
);
