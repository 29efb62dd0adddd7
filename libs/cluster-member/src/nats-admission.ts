/** The credentials and TLS material for NATS servers: those of this cluster, and those of other clusters. */
import { readFileSync } from 'node:fs';
import type { NatsCredentials } from '@keelson/bus/jetstream';
import { ConfigError, toEnvironmentName } from '@keelson/config';

export interface NatsAdmissionSettings {
  /** "user:password" or a token. */
  readonly natsLogin?: string | undefined;
  readonly natsCredentialsFile?: string | undefined;
  readonly natsNkeyFile?: string | undefined;
  readonly remoteNatsLogin?: string | undefined;
  readonly remoteNatsCredentialsFile?: string | undefined;
  readonly remoteNatsNkeyFile?: string | undefined;
  /** PEM files. */
  readonly natsAuthorityFile?: string | undefined;
  readonly natsTlsCertificateFile?: string | undefined;
  readonly natsTlsKeyFile?: string | undefined;
}

export interface NatsAdmission {
  readonly own: NatsCredentials | undefined;
  readonly remote: NatsCredentials | undefined;
  /** PEM. */
  readonly authorities: string | undefined;
  /** Files, which the client reads for every connection. */
  readonly certificate: { readonly certFile: string; readonly keyFile: string } | undefined;
}

type Setting = keyof NatsAdmissionSettings;

const requireReadable = (settings: NatsAdmissionSettings, name: Setting): string => {
  const file = settings[name] ?? '';
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([
      `${toEnvironmentName(name)}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    ]);
  }
};

/** The credentials of one of the three settings. */
const credentialsOf = (
  settings: NatsAdmissionSettings,
  names: readonly [login: Setting, credentialsFile: Setting, nkeyFile: Setting],
): NatsCredentials | undefined => {
  const given = names.filter((name) => settings[name] !== undefined);
  if (given.length > 1)
    throw new ConfigError([
      `${given.map(toEnvironmentName).join(' and ')} are both set: NATS takes one kind of credentials`,
    ]);
  const [login, credentialsFile, nkeyFile] = names.map((name) => settings[name]);
  const [name] = given;
  if (name !== undefined && name !== names[0]) requireReadable(settings, name);
  if (login !== undefined) return { kind: 'login', login };
  if (credentialsFile !== undefined) return { kind: 'credentials file', file: credentialsFile };
  return nkeyFile === undefined ? undefined : { kind: 'nkey', file: nkeyFile };
};

/** @throws ConfigError that names the settings: several kinds of credentials, or a file that cannot be read */
export const readNatsAdmission = (settings: NatsAdmissionSettings): NatsAdmission => {
  const own = credentialsOf(settings, ['natsLogin', 'natsCredentialsFile', 'natsNkeyFile']);
  const remote = credentialsOf(settings, [
    'remoteNatsLogin',
    'remoteNatsCredentialsFile',
    'remoteNatsNkeyFile',
  ]);
  const { natsTlsCertificateFile: certFile, natsTlsKeyFile: keyFile } = settings;
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new ConfigError([
      'KEELSON_NATS_TLS_CERTIFICATE_FILE and KEELSON_NATS_TLS_KEY_FILE are set together or not at all',
    ]);
  for (const name of ['natsTlsCertificateFile', 'natsTlsKeyFile'] as const)
    if (settings[name] !== undefined) requireReadable(settings, name);
  return {
    own,
    remote: remote ?? own,
    authorities:
      settings.natsAuthorityFile === undefined
        ? undefined
        : requireReadable(settings, 'natsAuthorityFile'),
    certificate:
      certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile },
  };
};
