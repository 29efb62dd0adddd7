/** `cert`: clients sign in with the certificate of their TLS connection. */
import { createHash } from 'node:crypto';
import { clientCertificatesOf, type Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { field, secretsRoutes } from '@keelson/secrets-api';
import { answerLogin, type Logins, type VerifiedLogin } from '../logins/login-operations.ts';
import type { AuthMethod } from '../method.ts';
import { configSetting, roleRecords } from './cert-records.ts';
import { type CertConfig, type CertRole, NEW_CERT_CONFIG } from './domain/cert-role.ts';
import {
  type ClientCertificate,
  extensionMetadata,
  readClientCertificate,
  serialOf,
} from './domain/client-certificate.ts';
import { chooseRole, findRole, isGoodFor, type RoleChoiceParts } from './role-choice-operations.ts';
import { roleRoutes } from './role-routes.ts';

interface CertParts extends RoleChoiceParts {
  readonly logins: Logins;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const readPresented = ([der, ...chain]: readonly Uint8Array[]): ClientCertificate =>
  readClientCertificate(der ?? refuse('client certificate must be supplied'), chain);

const fingerprintOf = ({ parsed }: ClientCertificate): string =>
  createHash('sha256').update(parsed.der).digest('hex');

const toLogin = (
  [roleName, role]: readonly [string, CertRole],
  certificate: ClientCertificate,
  config: CertConfig,
): VerifiedLogin => {
  const metadata = {
    cert_name: roleName,
    common_name: certificate.commonName,
    serial_number: BigInt(`0x${serialOf(certificate.parsed).replaceAll('-', '')}`).toString(),
    ...extensionMetadata(role, certificate),
  };
  return {
    displayName: role.displayName || roleName,
    metadata,
    alias: {
      name: certificate.commonName,
      metadata: config.hasAliasMetadata ? metadata : {},
      groups: [],
    },
    settings: role.token,
    role: roleName,
    data: {
      role: roleName,
      fingerprint: fingerprintOf(certificate),
    },
  };
};

const loginRoutes = (parts: CertParts): Route[] =>
  secretsRoutes({
    path: '/cert/login',
    tag: 'cert',
    fields: {
      name: field.string({
        description: 'Name of the role; the first one that fits if not given.',
        default: '',
        maxLength: 256,
      }),
    },
    operations: {
      update: {
        summary: 'Sign in with the certificate of the TLS connection',
        handle: async (request) => {
          const mount = requireMount(request);
          const certificate = readPresented(clientCertificatesOf(request.head));
          const found =
            (await findRole(parts, mount, certificate, request.fields.name)) ??
            refuse('failed to match all constraints for this login certificate');
          const config = (await configSetting(mount).find(parts.store)) ?? NEW_CERT_CONFIG;
          return answerLogin(parts.logins, request, toLogin(found, certificate, config));
        },
      },
    },
  });

const configRoutes = ({ store }: CertParts): Route[] =>
  secretsRoutes({
    path: '/cert/config',
    tag: 'cert',
    hasSettings: true,
    fields: {
      disable_binding: field.bool({
        description: 'Whether tokens are renewed without the certificate of their login.',
      }),
      enable_identity_alias_metadata: field.bool({
        description: 'Whether the metadata of a login is that of its alias, too.',
      }),
    },
    operations: {
      read: {
        summary: 'Read the settings of the mount',
        handle: async (request) => {
          const config =
            (await configSetting(requireMount(request)).find(store)) ?? NEW_CERT_CONFIG;
          return {
            data: {
              disable_binding: config.disablesBinding,
              enable_identity_alias_metadata: config.hasAliasMetadata,
            },
          };
        },
      },
      update: {
        summary: 'Change the settings of the mount; those that are not given stay as they are',
        handle: async (request) => {
          const setting = configSetting(requireMount(request));
          const { disable_binding: disablesBinding, enable_identity_alias_metadata: hasMetadata } =
            request.fields;
          await store.transact(async (tx) => {
            const before = (await setting.find(tx)) ?? NEW_CERT_CONFIG;
            setting.write(tx, {
              disablesBinding: disablesBinding ?? before.disablesBinding,
              hasAliasMetadata: hasMetadata ?? before.hasAliasMetadata,
            });
          });
          return undefined;
        },
      },
    },
  });

export const certMethod = (parts: CertParts): AuthMethod => ({
  type: 'cert',
  unauthenticatedPaths: ['login'],
  routes: [...loginRoutes(parts), ...configRoutes(parts), ...roleRoutes(parts)],
  findLoginRole: async (mount, { path, parameters: { name = '' }, certificates }) => {
    if (path !== 'login' || typeof name !== 'string' || certificates.length === 0) return undefined;
    return (await chooseRole(parts, mount, readPresented(certificates), name))?.name;
  },
  renew: async (mount, { role: name, fingerprint }, { certificates, isVerified }) => {
    const role =
      typeof name === 'string' ? await roleRecords(mount).find(parts.store, name) : undefined;
    const config = (await configSetting(mount).find(parts.store)) ?? NEW_CERT_CONFIG;
    if (role === undefined) return undefined;
    const renewed = { settings: role.token };
    if (isVerified || config.disablesBinding) return renewed;
    if (certificates.length === 0) return undefined;
    const certificate = readPresented(certificates);
    return fingerprintOf(certificate) === fingerprint &&
      (await isGoodFor(parts, mount, role, certificate))
      ? renewed
      : undefined;
  },
});
