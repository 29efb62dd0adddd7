import { ConfigError, composeConfig } from '@keelson/config';
import { objectStorageSettings } from '@keelson/objects';
import { outboundSettings } from '@keelson/outbound/settings';
import {
  electingSettings,
  enrolledSettings,
  processSettings,
  publicAddressSettings,
  replicationSettings,
  servingSettings,
  storeSettings,
} from '@keelson/runtime';
import { Type } from 'typebox';
import type { MailerOptions } from './base/mail/mailer.ts';
import { LEAST_TOKEN_LENGTH } from './identity/tokens/token-files.ts';

// One release of each series, so that the constraints of old and new configurations both match one.
const LAST_RELEASES =
  '1.13.5 1.12.2 1.11.4 1.10.5 1.9.8 1.8.5 1.7.5 1.6.6 1.5.7 1.4.7 1.3.10 1.2.9 1.1.9 1.0.11 0.15.5 0.14.11 0.13.7 0.12.31 0.11.15';

const workspaceSettings = Type.Object(
  {
    workspaceRuntimeVersions: Type.Array(Type.String(), {
      default: LAST_RELEASES.split(' '),
      description:
        'Releases of the provisioning tool that workspaces may choose; a version constraint selects the newest that satisfies it.',
    }),
    workspaceGlobalRemoteState: Type.Boolean({
      default: false,
      description:
        'Whether new workspaces share their state with all workspaces of their organization by default.',
    }),
    workspaceAssessmentIntervalSeconds: Type.Integer({
      default: 86_400,
      minimum: 1,
      description:
        'Time from a change of the state, or the last health assessment, to the next assessment.',
    }),
    workspaceSmtpUrl: Type.Optional(
      Type.String({
        pattern: '^smtps?://',
        secret: true,
        description:
          'Server that takes mail: smtp://user:password@host:587, which must offer STARTTLS, or smtps:// for TLS from the first byte. Without it no mail is sent, and notifications by mail are refused.',
      }),
    ),
    workspaceSmtpUnencrypted: Type.Boolean({
      default: false,
      description:
        'Whether mail may be sent without TLS to a server that offers no STARTTLS. Its password and the mails can then be read on the way. A server on loopback needs no TLS.',
    }),
    workspaceMailFrom: Type.Optional(
      Type.String({ description: 'Address of the sender of mail, such as keelson@example.com.' }),
    ),
    runnerToken: Type.Optional(
      Type.String({
        minLength: LEAST_TOKEN_LENGTH,
        secret: true,
        description:
          'Token of the built-in runner, the same in the workspace service and in the runner. Standalone makes one at each start. Not set: no built-in runner, and runs need agents.',
      }),
    ),
    workspaceFetchTimeLimitSeconds: Type.Integer({
      default: 120,
      minimum: 1,
      maximum: 3600,
      description: 'Time that fetching a commit from a repository may take, submodules included.',
    }),
    workspaceFetchLimitBytes: Type.Integer({
      default: 256 * 1024 * 1024,
      minimum: 1024 * 1024,
      description: 'Bytes that fetching a commit from a repository may transfer.',
    }),
    workspaceBootstrapToken: Type.Optional(
      Type.String({
        minLength: LEAST_TOKEN_LENGTH,
        secret: true,
        description:
          'Token of the administrator who may create organizations and users, adopted when a distributed deployment starts. It replaces the one adopted before.',
      }),
    ),
  },
  { title: 'Workspaces' },
);

/** Settings of the workspace API that apply in every mode. */
export const workspaceConfigSchema = composeConfig(
  workspaceSettings,
  publicAddressSettings,
  outboundSettings,
  objectStorageSettings,
);

export type WorkspaceConfig = Readonly<Type.Static<typeof workspaceConfigSchema>>;

/**
 * Undefined where no mail is sent.
 * @throws ConfigError when one of the two settings is missing
 */
export const toMailerOptions = ({
  workspaceSmtpUrl: url,
  workspaceMailFrom: from,
  workspaceSmtpUnencrypted: mayBeUnencrypted,
}: WorkspaceConfig): Omit<MailerOptions, 'timeoutMs'> | undefined => {
  if (url === undefined && from === undefined) return undefined;
  if (url === undefined || from === undefined) {
    throw new ConfigError([
      'KEELSON_WORKSPACE_SMTP_URL and KEELSON_WORKSPACE_MAIL_FROM go together.',
    ]);
  }
  return { url, from, mayBeUnencrypted };
};

const firstTokenSettings = Type.Object(
  {
    workspaceBootstrapTokenFile: Type.Optional(
      Type.String({
        secretFile: true,
        description:
          'File with the bootstrap token, for deployments that do not set the token itself; created at the first start if absent.',
      }),
    ),
  },
  { title: 'Workspaces' },
);

const runnerTokenSettings = Type.Object(
  {
    runnerTokenFile: Type.Optional(
      Type.String({
        secretFile: true,
        description:
          'File with the token of the built-in runner, where it is not set; the workspace service makes it when it is absent.',
      }),
    ),
  },
  { title: 'Built-in runner' },
);

/** Extra settings, read only when the service runs as its own process. */
export const workspaceProcessConfig = composeConfig(
  workspaceConfigSchema,
  firstTokenSettings,
  runnerTokenSettings,
  servingSettings,
  storeSettings,
  electingSettings,
  enrolledSettings,
  replicationSettings,
  processSettings,
);
