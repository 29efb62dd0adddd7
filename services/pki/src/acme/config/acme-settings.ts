import { Type } from 'typebox';

const Port = { minimum: 1, maximum: 65_535 };

/**
 * ACME settings of the process, which apply to all mounts in addition to the configuration of each.
 */
export const acmeSettingsSchema = Type.Object(
  {
    acmeHttpPort: Type.Integer({
      description: 'Port that http-01 validation connects to; 80 in RFC 8555.',
      default: 80,
      ...Port,
    }),
    acmeTlsPort: Type.Integer({
      description: 'Port that tls-alpn-01 validation connects to; 443 in RFC 8737.',
      default: 443,
      ...Port,
    }),
    acmeDisablePublic: Type.Boolean({
      description:
        "Every ACME account needs an external account binding, regardless of the mount's configuration.",
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
        'Whether ACME accounts that agreed to other terms of service, or to none, must agree before they can order.',
      default: false,
    }),
    acmeDnsAccount01: Type.Boolean({
      description:
        'Also offer dns-account-01, as defined by draft-ietf-acme-dns-account-label; not an RFC.',
      default: false,
    }),
    acmeTlsAlpnAddresses: Type.Boolean({
      description:
        'Also offer tls-alpn-01 for IP addresses, as defined by RFC 8738; otherwise for names only.',
      default: false,
    }),
  },
  { title: 'ACME' },
);

export type AcmeSettings = Readonly<Type.Static<typeof acmeSettingsSchema>>;
