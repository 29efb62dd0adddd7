import { composeConfig } from '@keelson/config';
import { processSettings } from '@keelson/runtime';
import { Type } from 'typebox';

export const policyServiceConfig = composeConfig(
  Type.Object({
    listenAddress: Type.String({ description: 'Address it listens on.', default: '127.0.0.1' }),
    policyPort: Type.Integer({ description: 'Port.', minimum: 0, maximum: 65_535, default: 8444 }),
    policyRulesFile: Type.String({ description: 'JSON file of the rules (README.md).' }),
    tlsCertificateFile: Type.String({ description: 'Certificate chain it shows, PEM.' }),
    tlsKeyFile: Type.String({ secretFile: true, description: 'Private key of it, PEM.' }),
    callerAuthorityFile: Type.Optional(
      Type.String({
        description:
          "PEM of who issued the certificate authority's client certificate; any caller is answered when not set.",
      }),
    ),
  }),
  processSettings,
);
