import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Dialect } from '@keelson/proto/edge/v1/edge';
import { dialectRules, field, secretsRoutes } from '@keelson/secrets-api';
import { encodePem } from '@keelson/x509';
import { requireKeyUsages } from '../certificates/domain/usage-names.ts';
import { requireRequestFormat } from '../certificates/packaging.ts';
import { KEY_FIELDS, keyWarnings, toKeyChoice } from '../keys/key-parameters.ts';
import { privateKeyText, requirePrivateKeyFormat } from '../keys/private-key-text.ts';
import { MAX_LIST_LENGTH, MAX_TEXT_LENGTH, timeField } from '../mounts/text-fields.ts';
import {
  LIMIT_FIELDS,
  SUBJECT_FIELDS,
  toAlternatives,
  toAttributes,
  toCaLimits,
  toPathLength,
} from './ca-subject-parameters.ts';
import { generateIntermediate, type IntermediateParts } from './intermediate-operations.ts';

const TYPE_FIELD = {
  type: field.string({
    description: 'internal, exported or existing.',
    maxLength: MAX_TEXT_LENGTH,
  }),
};

/** Parameters of a certificate that its request cannot have. */
const LIFETIME_FIELDS = {
  ttl: field.durationSeconds({ description: 'Refused: the signer decides the lifetime.' }),
  not_after: timeField('Refused, as ttl.'),
  not_before_duration: field.durationSeconds({ description: 'Refused, as ttl.' }),
};

const FIELDS = {
  ...KEY_FIELDS,
  ...SUBJECT_FIELDS,
  ...LIMIT_FIELDS,
  ...LIFETIME_FIELDS,
  add_basic_constraints: field.bool({
    default: false,
    description: 'Request a CA certificate expressly.',
  }),
  key_usage: field.commaList({
    default: [],
    description: 'Key usages to request.',
    maxLength: MAX_LIST_LENGTH,
  }),
  format: field.string({ default: 'pem', description: 'pem, der or pem_bundle.' }),
  private_key_format: field.string({ default: 'der', description: 'der, pem or pkcs8.' }),
};

/**
 * Judges limits of lifetimes, which hold for no request.
 * @returns warnings about them, where the dialect permits them
 * @throws KeelsonError `request.invalid`
 */
const judgeLifetimes = (given: ReadonlySet<string>, dialect: Dialect): readonly string[] => {
  const names = Object.keys(LIFETIME_FIELDS).filter((name) => given.has(name));
  const texts = names.map(
    (name) => `${name} has no effect on a request: whoever signs it decides the lifetime`,
  );
  if (texts.length > 0 && dialectRules(dialect).lifetimeOfRequest === 'refuse')
    throw new KeelsonError('request.invalid', { text: texts.join('; ') });
  return texts;
};

const PATHS = [
  ['/intermediate/generate/:type', 'Generate a key and a request for an intermediate'],
  ['/issuers/generate/intermediate/:type', 'Generate a key and a request for an intermediate'],
  ['/intermediate/cross-sign', 'Generate a request for a key of the mount'],
] as const;

export const intermediateRoutes = (parts: IntermediateParts): Route[] =>
  PATHS.flatMap(([path, summary]) =>
    secretsRoutes({
      path,
      tag: 'issuers',
      // A body cannot choose: cross-signing always uses an existing key.
      fields: { ...(path.endsWith(':type') && TYPE_FIELD), ...FIELDS },
      operations: {
        update: {
          summary,
          handle: async (context) => {
            const { fields, given, params, dialect } = context;
            const lifetimeWarnings = judgeLifetimes(given, dialect);
            const type = params['type'] ?? 'existing';
            const format = requireRequestFormat(fields.format);
            const privateKeyFormat = requirePrivateKeyFormat(fields.private_key_format);
            const { alternatives, warnings } = toAlternatives(fields, dialectRules(dialect).names);
            const { csrDer, key } = await generateIntermediate(
              parts,
              requireMount(context),
              toKeyChoice(type, fields, given),
              {
                attributes: toAttributes(fields),
                alternatives,
                keyUsages: requireKeyUsages(fields.key_usage),
                addBasicConstraints: fields.add_basic_constraints,
                pathLength: toPathLength(fields),
                limits: toCaLimits(fields),
              },
            );
            const privateKey = Buffer.from(key.privateKey, 'base64');
            const isExported = type === 'exported';
            const pem = encodePem('CERTIFICATE REQUEST', csrDer);
            const csr = format === 'der' ? Buffer.from(csrDer).toString('base64') : pem;
            return {
              data: {
                csr:
                  isExported && format === 'pem_bundle'
                    ? `${privateKeyText(privateKey, 'pem', '')}\n${csr}`
                    : csr,
                key_id: key.id,
                ...(isExported && {
                  private_key: privateKeyText(privateKey, format, privateKeyFormat),
                  private_key_type: key.type,
                }),
              },
              warnings: [...warnings, ...keyWarnings(type, given), ...lifetimeWarnings],
            };
          },
        },
      },
    }),
  );
