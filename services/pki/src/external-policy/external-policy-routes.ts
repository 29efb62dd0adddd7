/** `external-policy/…` and `issuer/:issuer_ref/external-policy/…`, each with and without a policy's name. */

import type { Route } from '@keelson/edge';
import { requireMount, requireName } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { dialectRules, field, type OperationContext, secretsRoutes } from '@keelson/secrets-api';
import { decodePem, toKeyAlgorithm } from '@keelson/x509';
import { isStoreFormat, type Packaging, readPackaging } from '../certificates/packaging.ts';
import { readCsrPem } from '../issuing/domain/csr-names.ts';
import { issuedDocument } from '../issuing/issuing-document.ts';
import { CSR_FIELD, fieldsOfPath } from '../issuing/issuing-parameters.ts';
import { type IssuingRouteParts, leaseRoomFor, registerLease } from '../issuing/issuing-routes.ts';
import type { IssuedCertificate } from '../issuing/signing-operations.ts';
import { requirePrivateKeyFormat } from '../keys/private-key-text.ts';
import { textField } from '../mounts/text-fields.ts';
import {
  issueUnderPolicy,
  type PolicyIssuing,
  type PolicyParts,
  signUnderPolicy,
} from './external-policy-operations.ts';
import { identityOf } from './requester-identity.ts';

export type ExternalPolicyRouteParts = PolicyParts & IssuingRouteParts;

const FORMAT_FIELDS = {
  policy: textField('Name of the policy in the service.'),
  format: field.string({ default: 'pem', description: 'pem, der, pem_bundle or p7b (PKCS #7).' }),
  private_key_format: field.string({ default: 'der', description: 'der, pem or pkcs8.' }),
  remove_roots_from_chain: field.bool({
    default: false,
    description: 'Leave self-signed certificates out of ca_chain.',
  }),
};

const KEY_FIELDS = {
  key_type: field.string({ default: 'rsa', description: 'rsa, ec or ed25519.' }),
  key_bits: field.integer({ default: 0, description: 'Size; 0: usual size of the type.' }),
};

interface FormatValues {
  readonly policy: string;
  readonly format: string;
  readonly private_key_format: string;
  readonly remove_roots_from_chain: boolean;
}

/** All fields of the client's request are sent to the policy service, except those in the path. */
const toIssuing = (
  parts: ExternalPolicyRouteParts,
  context: OperationContext<FormatValues>,
): PolicyIssuing => {
  const { params, fields, caller, namespace, request, dialect } = context;
  const mount = requireMount(context);
  return {
    mount,
    maxTtlSeconds:
      dialectRules(dialect).absoluteTimes === 'bounded' ? mount.maxLeaseTtlSeconds : undefined,
    namespacePath: namespace.path,
    policyName: fields.policy === '' ? '' : requireName(fields.policy),
    issuerRef: params['issuer_ref'],
    userValues: Object.fromEntries(
      Object.entries(context.data).filter(([name]) => !Object.hasOwn(params, name)),
    ),
    identityOf: (service) => identityOf(caller, service),
    requireLeaseRoom: leaseRoomFor(parts, context),
    signal: request.signal,
  };
};

/** @throws KeelsonError `request.invalid`, also for PKCS #12: its password would go to the policy service */
const readFormat = (format: string): Packaging => {
  if (isStoreFormat(format))
    throw new KeelsonError('request.invalid', {
      text: `the format "${format}" is not available here: all parameters go to the external policy service, and its password would, too`,
    });
  return readPackaging({ format });
};

const answerWith = async (
  parts: ExternalPolicyRouteParts,
  context: OperationContext<FormatValues>,
  issue: (issuing: PolicyIssuing) => Promise<IssuedCertificate>,
  startsChain = false,
) => {
  const { fields, dialect } = context;
  const packaging = readFormat(fields.format);
  const privateKeyFormat = requirePrivateKeyFormat(fields.private_key_format);
  const issued = await issue(toIssuing(parts, context));
  const lease = await registerLease(parts, context, issued);
  return {
    data: await issuedDocument(issued, {
      packaging,
      privateKeyFormat,
      removeRootsFromChain: fields.remove_roots_from_chain,
      startsChain,
      dialect,
    }),
    warnings: issued.warnings,
    ...(lease && { lease }),
  };
};

/** The first PEM block of the text is the request; other text is ignored. */
const readRequest = (pem: string) => {
  const { publicKeyDer } = readCsrPem(pem);
  const [request] = decodePem(pem);
  return { publicKeyDer, csrDer: request?.der ?? new Uint8Array(0) };
};

const onAllPaths = (name: string): readonly string[] =>
  ['', '/issuer/:issuer_ref'].flatMap((before) => [
    `${before}/external-policy/${name}`,
    `${before}/external-policy/${name}/:policy`,
  ]);

export const externalPolicyRoutes = (parts: ExternalPolicyRouteParts): Route[] => [
  ...onAllPaths('issue').flatMap((path) =>
    secretsRoutes({
      path,
      tag: 'issuing',
      fields: fieldsOfPath(path, { ...FORMAT_FIELDS, ...KEY_FIELDS }),
      operations: {
        update: {
          summary: 'Issue a certificate and its private key as the policy service decides',
          anyParameters: true,
          handle: (context) => {
            const { key_type, key_bits } = context.fields;
            const key = toKeyAlgorithm(key_type, key_type === 'ed25519' ? 0 : key_bits);
            return answerWith(parts, context, (issuing) => issueUnderPolicy(parts, issuing, key));
          },
        },
      },
    }),
  ),
  ...(['sign', 'sign-intermediate'] as const).flatMap((name) =>
    onAllPaths(name).flatMap((path) =>
      secretsRoutes({
        path,
        tag: 'issuing',
        fields: fieldsOfPath(path, { ...FORMAT_FIELDS, ...CSR_FIELD }),
        operations: {
          update: {
            summary:
              name === 'sign'
                ? 'Sign a request as the policy service decides'
                : 'Sign the request of an intermediate as the policy service decides',
            anyParameters: true,
            handle: (context) => {
              const csr = readRequest(context.fields.csr);
              if (context.given.has('private_key_format'))
                context.warnings.push(
                  'private_key_format has no effect: whoever made the request has the key',
                );
              return answerWith(
                parts,
                context,
                (issuing) =>
                  signUnderPolicy(parts, {
                    ...issuing,
                    ...csr,
                    mode: name === 'sign' ? 'sign' : 'ica',
                  }),
                name === 'sign-intermediate',
              );
            },
          },
        },
      }),
    ),
  ),
];
