import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import {
  type FieldValues,
  field,
  type OperationContext,
  type PartialFieldValues,
  propertiesOf,
  secretsRoutes,
} from '@keelson/secrets-api';
import { type AuthorityUrls, hasUrls, NO_URLS } from '../authority-urls/domain/authority-urls.ts';
import { checkGivenName } from '../mounts/reference-name.ts';
import { listField, MAX_LIST_LENGTH, MAX_TEXT_LENGTH } from '../mounts/text-fields.ts';
import { formatTime, LEAF_NOT_AFTER_BEHAVIORS } from '../validity/domain/lifetime.ts';
import { CHAIN_CHECKS, ISSUER_USAGES, type Issuer, requireOneOf } from './domain/issuer.ts';
import { findScheme, issuerDocument } from './issuer-document.ts';
import {
  chooseDefaultIssuer,
  deleteIssuer,
  deleteRoot,
  type IssuerParts,
  updateIssuer,
} from './issuer-operations.ts';

/** A parameter that disables one check of new certificates against the chain above them. */
const freedom = (what: string) =>
  field.bool({ default: false, description: `Do not check new certificates for ${what}.` });

const REFERENCE = {
  issuer_ref: field.string({
    default: '',
    description: 'Id or name of an issuer, or `default`.',
    maxLength: MAX_TEXT_LENGTH,
  }),
};

const ISSUER_FIELDS = {
  ...REFERENCE,
  issuer_name: field.string({
    default: '',
    description: 'Name of the issuer.',
    maxLength: MAX_TEXT_LENGTH,
  }),
  leaf_not_after_behavior: field.string({
    default: 'err',
    description: 'err, truncate, permit or always_enforce_err.',
    maxLength: MAX_TEXT_LENGTH,
  }),
  manual_chain: listField('Chain to use instead of the one that is found; `self` first.'),
  usage: field.commaList({
    default: [...ISSUER_USAGES],
    description: 'Permitted uses of the issuer.',
    maxLength: MAX_LIST_LENGTH,
  }),
  revocation_signature_algorithm: field.string({
    default: '',
    description: 'Signature scheme of lists.',
    maxLength: MAX_TEXT_LENGTH,
  }),
  issuing_certificates: listField('URLs of the issuer certificate.'),
  crl_distribution_points: listField('URLs of revocation lists.'),
  delta_crl_distribution_points: listField('URLs of delta lists.'),
  ocsp_servers: listField('URLs of OCSP responders.'),
  enable_aia_url_templating: field.bool({
    default: false,
    description: 'Resolve templates in URLs.',
  }),
  disable_critical_extension_checks: freedom('unknown critical extensions'),
  disable_path_length_checks: freedom('path lengths'),
  disable_name_checks: freedom('the names of issuer and subject'),
  disable_name_constraint_checks: freedom('name constraints'),
};

type IssuerValues = FieldValues<typeof ISSUER_FIELDS>;
type PatchValues = Partial<PartialFieldValues<typeof ISSUER_FIELDS>>;

/** Settings that a merge patch sets; null resets a setting to its default. */
const patched = (context: OperationContext<PatchValues>): PatchValues =>
  Object.fromEntries(
    (Object.keys(ISSUER_FIELDS) as (keyof typeof ISSUER_FIELDS)[])
      .filter((name) => context.given.has(name))
      .map((name) => [name, context.fields[name] ?? ISSUER_FIELDS[name].read(name, undefined)]),
  ) as PatchValues;

const toUrls = (values: PatchValues, before: AuthorityUrls) => ({
  issuingCertificates: values.issuing_certificates ?? before.issuingCertificates,
  crlDistributionPoints: values.crl_distribution_points ?? before.crlDistributionPoints,
  deltaCrlDistributionPoints:
    values.delta_crl_distribution_points ?? before.deltaCrlDistributionPoints,
  ocspServers: values.ocsp_servers ?? before.ocspServers,
  enableTemplating: values.enable_aia_url_templating ?? before.enableTemplating,
});

/** The issuer with the given values: a POST has all of them, a PATCH those it sent. */
const applyTo = (before: Issuer, values: PatchValues): Issuer => {
  const algorithm = values.revocation_signature_algorithm;
  const scheme = algorithm === undefined ? before.revocationScheme : findScheme(algorithm);
  if (algorithm && scheme === undefined)
    throw new KeelsonError('request.invalid', {
      text: `Unknown value for field \`revocation_signature_algorithm\`: ${algorithm}`,
    });
  const urls = toUrls(values, before.urls ?? NO_URLS);
  checkGivenName('issuer', values.issuer_name ?? '');
  return {
    ...before,
    name: values.issuer_name ?? before.name,
    leafNotAfterBehavior: requireOneOf(
      'leaf_not_after_behavior',
      LEAF_NOT_AFTER_BEHAVIORS,
      values.leaf_not_after_behavior ?? before.leafNotAfterBehavior,
    ),
    usages:
      values.usage === undefined
        ? before.usages
        : [
            ...new Set([
              'read-only' as const,
              ...values.usage.map((usage) => requireOneOf('usage', ISSUER_USAGES, usage)),
            ]),
          ],
    revocationScheme: scheme,
    manualChain: values.manual_chain ?? before.manualChain,
    urls: hasUrls(urls) ? urls : undefined,
    disabledChecks: CHAIN_CHECKS.filter(
      (check) => values[`disable_${check}_checks`] ?? before.disabledChecks?.includes(check),
    ),
  };
};

const issuerAnswer = async (
  parts: IssuerParts,
  context: OperationContext<unknown>,
  reference: string,
  warnings: readonly string[] = [],
) => {
  const authority = await parts.authorities.of(requireMount(context));
  return { data: issuerDocument(authority, authority.requireIssuer(reference)), warnings };
};

/** The id of a reference, since the request may change the name. */
const idOf = async (
  parts: IssuerParts,
  context: OperationContext<unknown>,
  reference: string,
): Promise<string> =>
  (await parts.authorities.of(requireMount(context))).requireIssuer(reference).issuer.id;

const oneIssuerRoutes = (parts: IssuerParts): Route[] =>
  secretsRoutes({
    path: '/issuer/:issuer_ref',
    tag: 'issuers',
    hasSettings: true,
    fields: ISSUER_FIELDS,
    operations: {
      read: {
        summary: 'Read an issuer',
        handle: (context) => issuerAnswer(parts, context, context.fields.issuer_ref),
      },
      update: {
        summary: 'Replace the settings of an issuer',
        handle: async (context) => {
          const values: IssuerValues = context.fields;
          const id = await idOf(parts, context, values.issuer_ref);
          const warnings = await updateIssuer(parts, requireMount(context), id, (before) =>
            applyTo(before, values),
          );
          return issuerAnswer(parts, context, id, warnings);
        },
      },
      patch: {
        summary: 'Change given settings of an issuer',
        handle: async (context) => {
          const values = patched(context);
          const id = await idOf(parts, context, context.params['issuer_ref'] ?? '');
          const warnings = await updateIssuer(parts, requireMount(context), id, (before) =>
            applyTo(before, values),
          );
          return issuerAnswer(parts, context, id, warnings);
        },
      },
      delete: {
        summary: 'Delete an issuer',
        handle: async (context) => ({
          warnings: await deleteIssuer(parts, requireMount(context), context.fields.issuer_ref),
        }),
      },
    },
  });

const listRoutes = (parts: IssuerParts): Route[] =>
  secretsRoutes({
    path: '/issuers',
    tag: 'issuers',
    fields: {},
    operations: {
      list: {
        summary: 'List issuers',
        handle: async (context) => {
          const authority = await parts.authorities.of(requireMount(context));
          return {
            data: {
              keys: authority.issuers.map(({ issuer }) => issuer.id),
              key_info: Object.fromEntries(
                authority.issuers.map((found) => [
                  found.issuer.id,
                  {
                    is_default: authority.isDefault(found),
                    issuer_name: found.issuer.name,
                    key_id: found.issuer.keyId,
                    common_name: found.commonName,
                    serial_number: found.serialHex,
                    not_after: formatTime(found.certificate.notAfterMs),
                  },
                ]),
              ),
            },
            warnings: authority.damagedIssuers.warnings('issuer'),
          };
        },
      },
    },
  });

const DEFAULTS_FIELDS = {
  default: field.string({
    description: 'Id or name of the default issuer.',
    maxLength: MAX_TEXT_LENGTH,
  }),
  default_follows_latest_issuer: field.bool({ description: 'A new issuer becomes the default.' }),
};

const defaultsDocument = (issuerId: string, followsLatestIssuer: boolean) => ({
  default: issuerId,
  default_follows_latest_issuer: followsLatestIssuer,
});

const defaultsRoutes = (parts: IssuerParts): Route[] => [
  ...secretsRoutes({
    path: '/config/issuers',
    tag: 'issuers',
    hasSettings: true,
    fields: DEFAULTS_FIELDS,
    operations: {
      read: {
        summary: 'Read which issuer is the default',
        answer: { data: propertiesOf(DEFAULTS_FIELDS) },
        handle: async (context) => {
          const { settings } = await parts.authorities.of(requireMount(context));
          return {
            data: defaultsDocument(settings.defaultIssuerId, settings.defaultFollowsLatestIssuer),
          };
        },
      },
      update: {
        summary: 'Choose the default issuer',
        handle: async (context) => {
          const defaults = await chooseDefaultIssuer(parts, requireMount(context), {
            issuerRef: context.fields.default ?? '',
            followsLatestIssuer: context.fields.default_follows_latest_issuer,
          });
          return {
            data: defaultsDocument(defaults.issuerId, defaults.followsLatestIssuer),
            warnings: defaults.warnings,
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/root',
    tag: 'issuers',
    fields: {},
    operations: {
      delete: {
        summary: 'Delete all issuers and keys',
        handle: async (context) => ({ warnings: await deleteRoot(parts, requireMount(context)) }),
      },
    },
  }),
  ...secretsRoutes({
    path: '/root/replace',
    tag: 'issuers',
    fields: {
      default: field.string({
        default: 'next',
        description: 'Id or name of the new default.',
        maxLength: MAX_TEXT_LENGTH,
      }),
    },
    operations: {
      update: {
        summary: 'Make a rotated root the default',
        handle: async (context) => {
          const defaults = await chooseDefaultIssuer(parts, requireMount(context), {
            issuerRef: context.fields.default,
          });
          return {
            data: defaultsDocument(defaults.issuerId, defaults.followsLatestIssuer),
            warnings: defaults.warnings,
          };
        },
      },
    },
  }),
];

export const issuerRoutes = (parts: IssuerParts): Route[] => [
  ...listRoutes(parts),
  ...oneIssuerRoutes(parts),
  ...defaultsRoutes(parts),
];
