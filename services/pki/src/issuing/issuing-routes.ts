import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import type { Caller, RequestHead } from '@keelson/proto/edge/v1/edge';
import type { LeasesDefinition } from '@keelson/proto/sys/v1/cluster';
import type { IdentitiesDefinition } from '@keelson/proto/sys/v1/identities';
import type { RpcService } from '@keelson/rpc';
import {
  dialectRules,
  type FieldValues,
  type OperationContext,
  type Result,
  secretsRoutes,
  type Timestamp,
} from '@keelson/secrets-api';
import { requireExtendedKeyUsages, requireKeyUsages } from '../certificates/domain/usage-names.ts';
import { readPackaging } from '../certificates/packaging.ts';
import { requirePrivateKeyFormat } from '../keys/private-key-text.ts';
import type { TemplateValues } from '../roles/domain/name-templates.ts';
import { ISSUED, issuedDocument } from './issuing-document.ts';
import { issueCertificate, signCsr, signVerbatim } from './issuing-operations.ts';
import {
  fieldsOfPath,
  ISSUE_FIELDS,
  type LIFETIME_FIELDS,
  type NAME_FIELDS,
  type ROLE_FIELD,
  SIGN_FIELDS,
  VERBATIM_FIELDS,
} from './issuing-parameters.ts';
import type { IssuedCertificate, IssuingParts, IssuingRequest } from './signing-operations.ts';

type Common = FieldValues<typeof ROLE_FIELD & typeof LIFETIME_FIELDS>;

/** Names come from the entity alone: whoever creates a token chooses its display name and metadata. */
const valuesOf =
  ({ identities }: IssuingRouteParts, caller: Caller | undefined) =>
  async (parameters: readonly string[]): Promise<TemplateValues> => {
    if (caller === undefined || caller.entityId === '') return {};
    const { entityId, namespace } = caller;
    const namespaceId = namespace?.id ?? 'root';
    const request = { entityId, namespaceId, parameters: [...parameters] };
    return (await identities.findValues(request)).values;
  };

/** Asks sys whether a quota allows another lease at the path of the request. */
export const leaseRoomFor =
  ({ ledger }: Pick<IssuingRouteParts, 'ledger'>, context: OperationContext<unknown>) =>
  async (): Promise<void> => {
    const { uuid: mountUuid } = requireMount(context);
    await ledger.requireRoom({ mountUuid, requestPath: requestPath(context.head) });
  };

const toIssuingRequest = (
  parts: IssuingRouteParts,
  context: OperationContext<Common>,
): IssuingRequest => {
  const { fields, dialect } = context;
  const rules = dialectRules(dialect);
  const notBefore: Timestamp | undefined = fields.not_before;
  const notAfter: Timestamp | undefined = fields.not_after;
  return {
    mount: requireMount(context),
    roleName: fields.name,
    issuerRef: context.params['issuer_ref'],
    ttlSeconds: fields.ttl,
    notBeforeMs: notBefore?.epochMs,
    notAfterMs: notAfter?.epochMs,
    overlong: rules.overlongLifetime,
    absoluteTimes: rules.absoluteTimes,
    metadata: fields.metadata || fields.cert_metadata,
    requireLeaseRoom: leaseRoomFor(parts, context),
  };
};

const toNamedRequest = (
  parts: IssuingRouteParts,
  context: OperationContext<Common & FieldValues<typeof NAME_FIELDS>>,
) => {
  const { fields } = context;
  return {
    ...toIssuingRequest(parts, context),
    findValues: valuesOf(parts, context.caller),
    names: {
      commonName: fields.common_name,
      altNames: fields.alt_names,
      ipSans: fields.ip_sans,
      uriSans: fields.uri_sans,
      otherSans: fields.other_sans,
      serialNumber: fields.serial_number,
      userIds: fields.user_ids,
      excludeCnFromSans: fields.exclude_cn_from_sans,
      rules: dialectRules(context.dialect).names,
    },
  };
};

export interface IssuingRouteParts extends IssuingParts {
  readonly ledger: RpcService<typeof LeasesDefinition>;
  readonly identities: RpcService<typeof IdentitiesDefinition>;
}

/** Creates a lease for the requester of a certificate if the role requires one. */
export const registerLease = async (
  { ledger, clock }: IssuingRouteParts,
  context: OperationContext<unknown>,
  { role, notAfterMs, serialKey }: IssuedCertificate,
): Promise<{ id: string; durationSeconds: number; renewable: boolean } | undefined> => {
  if (!role?.generateLease || context.caller === undefined) return undefined;
  const ttlSeconds = Math.max(1, Math.floor((notAfterMs - clock.nowMs()) / 1000));
  const lease = await ledger.register({
    mountUuid: requireMount(context).uuid,
    requestPath: requestPath(context.head),
    tokenHash: context.caller.tokenHash,
    tokenType: context.caller.tokenType,
    namespace: context.caller.namespace,
    ttlSeconds,
    maxTtlSeconds: ttlSeconds,
    renewable: false,
    engineData: Buffer.from(serialKey),
  });
  return { id: lease.leaseId, durationSeconds: lease.ttlSeconds, renewable: false };
};

const requestPath = ({ path }: RequestHead): string => path.replace(/^\//, '');

interface FormatFields {
  readonly format: string;
  readonly password: string;
  readonly friendly_name: string;
  readonly remove_roots_from_chain: boolean;
  readonly private_key_format?: string;
}

/** Formats are checked before anything is signed: a refusal afterwards would leave a certificate behind. */
const answerWith = async (
  parts: IssuingRouteParts,
  context: OperationContext<FormatFields>,
  issue: () => Promise<IssuedCertificate>,
): Promise<Result> => {
  const { fields, dialect } = context;
  const packaging = readPackaging(fields);
  const privateKeyFormat = requirePrivateKeyFormat(fields.private_key_format ?? '');
  const issued = await issue();
  const lease = await registerLease(parts, context, issued);
  return {
    data: await issuedDocument(issued, {
      packaging,
      privateKeyFormat,
      removeRootsFromChain: fields.remove_roots_from_chain,
      dialect,
    }),
    warnings: issued.warnings,
    ...(lease && { lease }),
  };
};

/** `issue/:name` and `issuer/:issuer_ref/issue/:name`, and so on. */
const onBothPaths = (path: string): readonly string[] => [path, `/issuer/:issuer_ref${path}`];

export const issuingRoutes = (parts: IssuingRouteParts): Route[] => [
  ...onBothPaths('/issue/:name').flatMap((path) =>
    secretsRoutes({
      path,
      tag: 'issuing',
      fields: fieldsOfPath(path, ISSUE_FIELDS),
      operations: {
        update: {
          summary: 'Issue a certificate and its private key',
          answer: ISSUED,
          handle: (context) =>
            answerWith(parts, context, () =>
              issueCertificate(parts, {
                ...toNamedRequest(parts, context),
                key: { type: context.fields.key_type, bits: context.fields.key_bits },
              }),
            ),
        },
      },
    }),
  ),
  ...onBothPaths('/sign/:name').flatMap((path) =>
    secretsRoutes({
      path,
      tag: 'issuing',
      fields: fieldsOfPath(path, SIGN_FIELDS),
      operations: {
        update: {
          summary: 'Sign a CSR under a role',
          answer: ISSUED,
          handle: (context) =>
            answerWith(parts, context, () =>
              signCsr(parts, { ...toNamedRequest(parts, context), csr: context.fields.csr }),
            ),
        },
      },
    }),
  ),
  ...[...onBothPaths('/sign-verbatim'), ...onBothPaths('/sign-verbatim/:name')].flatMap((path) =>
    secretsRoutes({
      path,
      tag: 'issuing',
      fields: fieldsOfPath(path, VERBATIM_FIELDS),
      operations: {
        update: {
          summary: 'Sign a CSR verbatim',
          handle: (context) => {
            const { fields } = context;
            return answerWith(parts, context, () =>
              signVerbatim(parts, {
                ...toIssuingRequest(parts, context),
                csr: fields.csr,
                scheme: { signatureBits: fields.signature_bits, usePss: fields.use_pss },
                userIds: fields.user_ids,
                enforcesBehavior: fields.enforce_leaf_not_after_behavior,
                keyUsages: fields.key_usage && requireKeyUsages(fields.key_usage),
                extendedKeyUsages: requireExtendedKeyUsages(
                  fields.ext_key_usage,
                  fields.ext_key_usage_oids,
                ),
              }),
            );
          },
        },
      },
    }),
  ),
];
