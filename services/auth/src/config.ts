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
import { Type } from 'typebox';

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
  Type.Object(
    {
      pkiAddresses: Type.Array(Type.String(), {
        description:
          'host:port of the certificate authority, whose mounts may say which certificates sign in; a DNS name may resolve to several replicas.',
        default: ['pki:9000'],
      }),
      workspaceAddresses: Type.Array(Type.String(), {
        description:
          'host:port of the workspace service, which tells about tokens of runs; a DNS name may resolve to several replicas.',
        default: ['workspace:9000'],
      }),
    },
    { title: 'Auth' },
  ),
);
