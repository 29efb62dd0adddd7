import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { dialectRules, field, secretsRoutes } from '@keelson/secrets-api';
import { encodePem } from '@keelson/x509';
import { readPackaging } from '../certificates/packaging.ts';
import {
  CA_SUBJECT_FIELDS,
  caSubjectWarnings,
  SUBJECT_FIELDS,
  toCaSubject,
} from '../issuers/ca-subject-parameters.ts';
import { signIntermediate, signSelfIssued } from './ca-signing-operations.ts';
import { ISSUED, issuedDocument } from './issuing-document.ts';
import {
  CSR_FIELD,
  ENFORCE_FIELD,
  fieldsOfPath,
  SCHEME_FIELDS,
  VALIDITY_FIELDS,
} from './issuing-parameters.ts';
import type { IssuingParts } from './signing-operations.ts';

const INTERMEDIATE_FIELDS = {
  ...CA_SUBJECT_FIELDS,
  ...CSR_FIELD,
  ...VALIDITY_FIELDS,
  ...SCHEME_FIELDS,
  ...ENFORCE_FIELD,
  use_csr_values: field.bool({
    default: false,
    description:
      'Take subject, alternative names, usages and extensions from the CSR. Name constraints, extended usages and policies of the request replace those of the CSR.',
  }),
  not_before_duration: field.durationSeconds({
    default: 30,
    description: 'Time by which the start of validity precedes the request.',
  }),
  skid: field.string({
    default: '',
    description: 'Subject key identifier, hexadecimal, for cross-signing.',
  }),
};

const MAX_KEY_IDENTIFIER_BYTES = 64;

const toKeyIdentifier = (skid: string): Uint8Array | undefined => {
  const hex = skid.replaceAll(/[\s:._-]/g, '');
  if (hex === '') return undefined;
  if (!/^(?:[0-9A-Fa-f]{2})+$/.test(hex) || hex.length > 2 * MAX_KEY_IDENTIFIER_BYTES)
    throw new KeelsonError('request.invalid', {
      text: 'the skid parameter is not a hexadecimal key identifier',
    });
  return Buffer.from(hex, 'hex');
};

/** Warnings about parameters of the subject that the CSR replaces. */
const replacedWarnings = (given: ReadonlySet<string>): readonly string[] => {
  const replaced = Object.keys(SUBJECT_FIELDS).filter((name) => given.has(name));
  return replaced.length === 0
    ? []
    : [
        `parameters ignored, because use_csr_values takes their values from the CSR: ${replaced.join(', ')}`,
      ];
};

/** A path without a reference means the default issuer, whatever the body contains. */
const referenceOf = ({ params }: { readonly params: Readonly<Record<string, string>> }): string =>
  params['issuer_ref'] ?? 'default';

const onBothPaths = (name: string): readonly string[] => [
  `/root/${name}`,
  `/issuer/:issuer_ref/${name}`,
];

const intermediateRoutes = (parts: IssuingParts, path: string): Route[] =>
  secretsRoutes({
    path,
    tag: 'issuing',
    fields: fieldsOfPath(path, INTERMEDIATE_FIELDS),
    operations: {
      update: {
        summary: 'Sign the CSR of an intermediate',
        answer: ISSUED,
        handle: async (context) => {
          const { fields, given, dialect } = context;
          const rules = dialectRules(dialect);
          const packaging = readPackaging(fields);
          const toSubject = (commonNameOfCsr: string) => ({
            ...fields,
            common_name: fields.common_name || commonNameOfCsr,
          });
          const issued = await signIntermediate(parts, {
            mount: requireMount(context),
            issuerRef: referenceOf(context),
            csr: fields.csr,
            useCsrValues: fields.use_csr_values,
            subject: (commonName) => toCaSubject(toSubject(commonName), rules.names),
            maxPathLength: fields.max_path_length,
            ttlSeconds: fields.ttl,
            notAfterMs: fields.not_after?.epochMs,
            notBeforeDurationSeconds: fields.not_before_duration,
            overlong: rules.overlongLifetime,
            absoluteTimes: rules.absoluteTimes,
            keyIdentifier: toKeyIdentifier(fields.skid),
            enforcesBehavior: fields.enforce_leaf_not_after_behavior,
            scheme: { signatureBits: fields.signature_bits, usePss: fields.use_pss },
          });
          return {
            data: await issuedDocument(issued, {
              packaging,
              privateKeyFormat: '',
              removeRootsFromChain: false,
              startsChain: true,
              dialect,
            }),
            warnings: [
              ...caSubjectWarnings(fields, rules.names),
              ...(fields.use_csr_values ? replacedWarnings(given) : []),
              ...issued.warnings,
            ],
          };
        },
      },
    },
  });

const SELF_ISSUED_FIELDS = {
  certificate: field.string({ default: '', description: 'PEM of the certificate.' }),
  require_matching_certificate_algorithms: field.bool({
    default: false,
    description: 'Refuse a certificate with a key of another type than the issuer.',
  }),
};

const selfIssuedRoutes = (parts: IssuingParts, path: string): Route[] =>
  secretsRoutes({
    path,
    tag: 'issuing',
    fields: fieldsOfPath(path, SELF_ISSUED_FIELDS),
    operations: {
      update: {
        summary: 'Sign a self-issued certificate of another authority',
        handle: async (context) => {
          const { fields } = context;
          const { der, issuer } = await signSelfIssued(parts, {
            mount: requireMount(context),
            issuerRef: referenceOf(context),
            certificate: fields.certificate,
            requiresMatchingAlgorithm: fields.require_matching_certificate_algorithms,
          });
          return {
            data: { certificate: encodePem('CERTIFICATE', der), issuing_ca: issuer.pem },
          };
        },
      },
    },
  });

export const caSigningRoutes = (parts: IssuingParts): Route[] => [
  ...onBothPaths('sign-intermediate').flatMap((path) => intermediateRoutes(parts, path)),
  ...onBothPaths('sign-self-issued').flatMap((path) => selfIssuedRoutes(parts, path)),
];
