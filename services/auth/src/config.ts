import { composeConfig } from '@keelson/config';
import {
  electingSettings,
  enrolledSettings,
  processSettings,
  replicationSettings,
  servingSettings,
  storeSettings,
} from '@keelson/runtime';

/** Settings, read only when the service runs as its own process. */
export const authProcessConfig = composeConfig(
  servingSettings,
  storeSettings,
  electingSettings,
  enrolledSettings,
  replicationSettings,
  processSettings,
);
