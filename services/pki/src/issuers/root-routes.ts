import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { dialectRules, field, secretsRoutes } from '@keelson/secrets-api';
import { toSerialHex } from '@keelson/x509';
import {
  keyMembers,
  PACKAGING_FIELDS,
  parcelText,
  readPackaging,
} from '../certificates/packaging.ts';
import { KEY_FIELDS, keyWarnings, toKeyChoice } from '../keys/key-parameters.ts';
import { privateKeyText, requirePrivateKeyFormat } from '../keys/private-key-text.ts';
import { checkGivenName } from '../mounts/reference-name.ts';
import { textField, timeField } from '../mounts/text-fields.ts';
import { decideLifetime, NO_RULES } from '../validity/domain/lifetime.ts';
import {
  CA_SUBJECT_FIELDS,
  caSubjectWarnings,
  toCaSubject,
  toPathLength,
} from './ca-subject-parameters.ts';
import { generateRoot, type RootParts } from './root-operations.ts';

const ROOT_FIELDS = {
  type: textField('internal, exported or existing.'),
  issuer_name: textField('Name of the issuer.'),
  ...KEY_FIELDS,
  ttl: field.durationSeconds({ default: 0, description: 'Lifetime.' }),
  not_after: timeField(
    'End of validity, instead of a lifetime, and within the maximum of the engine except in the vendor dialect.',
  ),
  not_before_duration: field.durationSeconds({
    default: 30,
    description: 'Time by which the start of validity precedes the request.',
  }),
  ...PACKAGING_FIELDS,
  private_key_format: field.string({ default: 'der', description: 'der, pem or pkcs8.' }),
  ...CA_SUBJECT_FIELDS,
};

/** Name of a rotated root whose request gives none. */
const ROTATED_NAME = 'next';

export const rootRoutes = (parts: RootParts): Route[] => {
  const generate = (path: string, summary: string, isRotation: boolean): Route[] =>
    secretsRoutes({
      path,
      tag: 'issuers',
      fields: ROOT_FIELDS,
      operations: {
        update: {
          summary,
          handle: async (context) => {
            const { fields, given } = context;
            const key = toKeyChoice(fields.type, fields, given);
            const packaging = readPackaging(fields);
            const privateKeyFormat = requirePrivateKeyFormat(fields.private_key_format);
            const mount = requireMount(context);
            const rules = dialectRules(context.dialect).names;
            const lifetime = decideLifetime({
              nowMs: parts.clock.nowMs(),
              ttlSeconds: fields.ttl,
              notAfterMs: fields.not_after?.epochMs,
              notBeforeDurationSeconds: fields.not_before_duration,
              roleTtlSeconds: 0,
              roleMaxTtlSeconds: 0,
              notBeforeBound: NO_RULES.notBeforeBound,
              notAfterBound: NO_RULES.notAfterBound,
              mountDefaultTtlSeconds: mount.defaultLeaseTtlSeconds,
              mountMaxTtlSeconds: mount.maxLeaseTtlSeconds,
              // The specification bounds leaves and intermediates; a root's lifetime is cut in both dialects.
              overlong: 'cap',
              absoluteTimes: dialectRules(context.dialect).absoluteTimes,
            });
            const isNextFree =
              isRotation &&
              (await parts.authorities.of(mount)).findIssuer(ROTATED_NAME) === undefined;
            const issuerName = fields.issuer_name || (isNextFree ? ROTATED_NAME : '');
            checkGivenName('issuer', issuerName);
            const root = await generateRoot(parts, {
              mount,
              issuerName,
              key,
              ...lifetime,
              subject: toCaSubject(fields, rules),
              pathLength: toPathLength(fields),
            });
            const { issuer } = root;
            const der = issuer.certificate.der;
            const certificate =
              packaging.format === 'der' ? Buffer.from(der).toString('base64') : issuer.pem;
            const isExported = fields.type === 'exported';
            const privateKey = Buffer.from(root.key.privateKey, 'base64');
            const privateKeyDer = isExported ? privateKey : undefined;
            const parcel = { certificateDer: der, chain: [], privateKeyDer };
            return {
              data: {
                certificate:
                  isExported && packaging.format === 'pem_bundle'
                    ? `${privateKeyText(privateKey, 'pem', '')}\n${certificate}`
                    : ((await parcelText(parcel, packaging)) ?? certificate),
                expiration: issuer.certificate.notAfterMs / 1000,
                issuer_id: issuer.issuer.id,
                issuer_name: issuer.issuer.name,
                issuing_ca: certificate,
                key_id: root.key.id,
                key_name: root.key.name,
                serial_number: toSerialHex(issuer.certificate.serialNumber),
                ...(isExported &&
                  keyMembers(
                    { privateKeyDer: privateKey, type: root.key.type },
                    packaging,
                    privateKeyFormat,
                  )),
              },
              warnings: [
                ...caSubjectWarnings(fields, rules),
                ...keyWarnings(fields.type, given),
                ...lifetime.warnings,
                ...root.warnings,
              ],
            };
          },
        },
      },
    });
  return [
    ...generate('/root/generate/:type', 'Generate a root', false),
    ...generate('/issuers/generate/root/:type', 'Generate a root', false),
    ...generate('/root/rotate/:type', 'Generate the next root', true),
  ];
};
