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

const Port = { minimum: 1, maximum: 65_535 };

/** Settings of the certificate authority that hold in every mode, beyond what each mount has. */
export const pkiConfigSchema = Type.Object({
  acmeHttpPort: Type.Integer({
    description: 'Port that http-01 validation asks on the names of an order; 80 by RFC 8555.',
    default: 80,
    ...Port,
  }),
  acmeTlsPort: Type.Integer({
    description: 'Port that tls-alpn-01 validation asks on the names of an order; 443 by RFC 8737.',
    default: 443,
    ...Port,
  }),
  acmeDisablePublic: Type.Boolean({
    description: 'Every ACME account needs an external account binding, whatever a mount says.',
    default: false,
    aliases: [
      'SERVICE_DISABLE_PUBLIC_ACME',
      'VAULT_DISABLE_PUBLIC_ACME',
      'BAO_DISABLE_PUBLIC_ACME',
    ],
  }),
  acmeTermsOfService: Type.Optional(
    Type.String({
      description:
        'URL of the terms of service: ACME directories name it, and new accounts must agree to it.',
      pattern: '^https?://[!-~]+$',
    }),
  ),
  acmeTermsBindExisting: Type.Boolean({
    description:
      'ACME accounts that agreed to other terms of service, or to none, may order nothing until they agree to these.',
    default: false,
  }),
  acmeOpenOrders: Type.Integer({
    description:
      'Orders of an ACME account that may be open (pending or ready) at a time; counted by each replica.',
    default: 1000,
    minimum: 1,
  }),
  acmePendingAuthorizations: Type.Integer({
    description: 'Authorizations of an ACME account that may be pending at a time, likewise.',
    default: 5000,
    minimum: 1,
  }),
  acmeDnsAccount01: Type.Boolean({
    description:
      'Offers dns-account-01 too, as draft-ietf-acme-dns-account-label has it; not an RFC.',
    default: false,
  }),
  acmeTlsAlpnAddresses: Type.Boolean({
    description: 'Offers tls-alpn-01 for addresses too, as RFC 8738 has it; otherwise for names.',
    default: false,
  }),
});

export type PkiConfig = Readonly<Type.Static<typeof pkiConfigSchema>>;

/** What the service in a process of its own is told besides. */
export const pkiProcessConfig = composeConfig(
  pkiConfigSchema,
  servingSettings,
  storeSettings,
  electingSettings,
  enrolledSettings,
  replicationSettings,
  processSettings,
);
