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
import { LEAST_FIRST_TOKEN_LENGTH } from './tokens/first-token-file.ts';

// Of each series, as the constraints of configurations old and new select one of them.
const LAST_RELEASES =
  '1.13.5 1.12.2 1.11.4 1.10.5 1.9.8 1.8.5 1.7.5 1.6.6 1.5.7 1.4.7 1.3.10 1.2.9 1.1.9 1.0.11 0.15.5 0.14.11 0.13.7 0.12.31 0.11.15';

/** Settings of the workspace API that hold in every mode. */
export const workspaceConfigSchema = Type.Object({
  workspaceRuntimeVersions: Type.Array(Type.String(), {
    default: LAST_RELEASES.split(' '),
    description:
      'Releases of the provisioning tool that workspaces may choose; a version constraint selects the newest that satisfies it.',
  }),
  workspaceGlobalRemoteState: Type.Boolean({
    default: false,
    description:
      'Whether new workspaces that do not say it share their state with all workspaces of their organization.',
  }),
  workspaceAssessmentIntervalSeconds: Type.Integer({
    default: 86_400,
    minimum: 1,
    description:
      'Time from a change of the state, or from the last health assessment, to the next assessment of a workspace that is assessed.',
  }),
  workspaceBootstrapToken: Type.Optional(
    Type.String({
      minLength: LEAST_FIRST_TOKEN_LENGTH,
      secret: true,
      description:
        'A token of the administrator who may create organizations and users, taken over once when a distributed deployment starts; it ends the one that was taken over before.',
    }),
  ),
});

export type WorkspaceConfig = Readonly<Type.Static<typeof workspaceConfigSchema>>;

const firstTokenSettings = Type.Object({
  workspaceBootstrapTokenFile: Type.Optional(
    Type.String({
      description:
        'File with such a token, for a deployment that does not set it; made at the first start when it is absent.',
    }),
  ),
});

/** What the service in a process of its own is told besides. */
export const workspaceProcessConfig = composeConfig(
  workspaceConfigSchema,
  firstTokenSettings,
  servingSettings,
  storeSettings,
  electingSettings,
  enrolledSettings,
  replicationSettings,
  processSettings,
);
