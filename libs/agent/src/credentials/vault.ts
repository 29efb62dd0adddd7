/** The settings of logins at Vault, and the files and variables with which its provider uses their tokens. */
import type { ProviderCredentials, WriteFile } from './clouds.ts';
import type { Settings } from './settings.ts';
import { TIME_LIMIT_MS, type VaultLogin, type VaultToken } from './vault-session.ts';

const NAMESPACE = /^[\w./ -]*$/;
const ROLE = /^[\x20-\x7e]+$/;
/** A server that does not answer holds a phase up for no longer. */
const MAX_TIME_LIMIT_SECONDS = 600;
const PATH = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

const requireAddress = (settings: Settings): string => {
  const given = settings.require('TFC_VAULT_ADDR').replace(/\/$/, '');
  const url = URL.parse(given);
  if (
    url === null ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username !== '' ||
    url.search !== ''
  )
    throw new Error(
      `The address for ${settings.name} (TFC_VAULT_ADDR) is not an http or https address.`,
    );
  return given;
};

const readCertificates = (settings: Settings): string => {
  const encoded = settings.read('TFC_VAULT_ENCODED_CACERT');
  if (encoded === '') return '';
  const pem = Buffer.from(encoded, 'base64').toString();
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    throw new Error(
      `The certificate for ${settings.name} (TFC_VAULT_ENCODED_CACERT) is not PEM in base64.`,
    );
  return pem;
};

const readTimeLimitMs = (settings: Settings): number => {
  const text = settings.read('TFC_VAULT_CLIENT_TIMEOUT');
  if (text === '') return TIME_LIMIT_MS;
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > MAX_TIME_LIMIT_SECONDS)
    throw new Error(
      `The time limit for ${settings.name} (TFC_VAULT_CLIENT_TIMEOUT) is not a number of seconds from 1 to ${MAX_TIME_LIMIT_SECONDS}.`,
    );
  return seconds * 1000;
};

/** @throws Error for people, which names the variable */
export const toVaultLogin = (settings: Settings, jwt: string): VaultLogin => {
  const path = settings.read('TFC_VAULT_AUTH_PATH').replace(/^\/|\/$/g, '') || 'jwt';
  if (!PATH.test(path))
    throw new Error(`The path for ${settings.name} (TFC_VAULT_AUTH_PATH) is not that of a mount.`);
  const namespace = settings.read('TFC_VAULT_NAMESPACE');
  if (!NAMESPACE.test(namespace))
    throw new Error(
      `The namespace for ${settings.name} (TFC_VAULT_NAMESPACE) has characters that it may not have.`,
    );
  return {
    address: requireAddress(settings),
    namespace,
    caPem: readCertificates(settings),
    path,
    role: settings.requireOfPhase((phase) => `TFC_VAULT_${phase}_ROLE`, ROLE),
    jwt,
    timeLimitMs: readTimeLimitMs(settings),
  };
};

export const toVaultCredentials = async (
  { address, namespace, caPem, token }: VaultToken,
  write: WriteFile,
): Promise<ProviderCredentials> => {
  const certificates = caPem === '' ? '' : await write('ca.pem', caPem);
  return {
    environment: {
      VAULT_TOKEN: token,
      VAULT_ADDR: address,
      ...(namespace !== '' && { VAULT_NAMESPACE: namespace }),
      ...(certificates !== '' && { VAULT_CACERT: certificates }),
    },
    files: { token_filename: await write('token', token), ca_cert_file: certificates },
    values: { address, namespace },
  };
};
