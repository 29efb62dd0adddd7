import { composeConfig } from '@keelson/config';
import {
  electingSettings,
  enrolledSettings,
  processSettings,
  servingSettings,
} from '@keelson/runtime';
import { Type } from 'typebox';

/** Settings of the certificate authority that hold in every mode: none beyond what each mount has. */
export const pkiConfigSchema = Type.Object({});

export type PkiConfig = Readonly<Type.Static<typeof pkiConfigSchema>>;

/** What the service in a process of its own is told besides. */
export const pkiProcessConfig = composeConfig(
  pkiConfigSchema,
  servingSettings,
  electingSettings,
  enrolledSettings,
  processSettings,
);
