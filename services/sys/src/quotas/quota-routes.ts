import type { Route } from '@keelson/edge';
import { field, secretsRoutes } from '@keelson/secrets-api';
import { quotaDocument, quotaSettingsDocument } from './quota-document.ts';
import {
  changeQuotaSettings,
  deleteQuota,
  findQuota,
  listQuotaNames,
  putQuota,
  type QuotaContext,
  readQuotaSettings,
} from './quota-operations.ts';
import { rateQuotaRecords } from './quota-records.ts';

export const TAG = 'quotas';
const BASE = '/sys/quotas/rate-limit';
const MAX_PATH = 1024;
const MAX_RATE = 1_000_000_000;

export const quotaName = field.string({
  description: 'Name of the quota.',
  default: '',
  check: (text) =>
    /^[\w.-]{1,128}$/.test(text)
      ? undefined
      : 'the name of a quota has 1 to 128 letters, digits and the characters _ . -',
});

export const quotaPath = field.string({
  description:
    'Path from the root namespace: of a namespace, a mount or something below a mount, where a * at the end stands ' +
    'for any text. Empty, the quota applies to everything without one of its own.',
  default: '',
  maxLength: MAX_PATH,
  check: (path) => (/\*./.test(path) ? 'path may have a * at its end only' : undefined),
});

export const quotaRole = field.string({
  description:
    'Name of a role of the auth method at the path: the quota is of the logins with that role. Empty, it is of all requests.',
  default: '',
  maxLength: 256,
});

const FIELDS = {
  name: quotaName,
  path: quotaPath,
  rate: field.number({
    description:
      'Requests that each client address may make in an interval; a fraction makes the interval longer.',
    required: 'rate is missing: the number of requests in an interval',
    check: (rate) =>
      rate > 0 && rate <= MAX_RATE ? undefined : `rate is greater than 0 and at most ${MAX_RATE}`,
  }),
  interval: field.durationSeconds({
    description: 'Length of an interval.',
    default: 1,
    check: (seconds) =>
      seconds >= 1 && seconds <= 86_400 ? undefined : 'interval has 1 second to 24 hours',
  }),
  block_interval: field.durationSeconds({
    description:
      'Time for which an address that has reached the limit is refused; 0 means until the interval ends.',
    default: 0,
    check: (seconds) => (seconds <= 86_400 ? undefined : 'block_interval has at most 24 hours'),
  }),
  inheritable: field.bool({
    description:
      'Whether the quota of a namespace applies to the namespaces below it that have none.',
    default: false,
  }),
  role: quotaRole,
} as const;

const SETTINGS = {
  rate_limit_exempt_paths: field.commaList({
    description:
      'Paths that no quota limits, each relative to its namespace; a * at the end stands for any text.',
    maxLength: 16_384,
  }),
  enable_rate_limit_audit_logging: field.bool({
    description: 'Whether audit devices record the requests that quotas refuse.',
  }),
  enable_rate_limit_response_headers: field.bool({
    description: 'Whether answers state the limit that applies to them.',
  }),
} as const;

/** `sys/quotas`: rates of requests, by path. */
export const quotaRoutes = (context: QuotaContext): Route[] => [
  ...secretsRoutes({
    path: '/sys/quotas/config',
    tag: TAG,
    hasSettings: true,
    fields: SETTINGS,
    operations: {
      read: {
        summary: 'Read the settings of all quotas',
        handle: async () => ({ data: quotaSettingsDocument(await readQuotaSettings(context)) }),
      },
      update: {
        summary:
          'Change the settings of all quotas; parameters that are not given stay as they are',
        handle: async ({ fields }) => {
          await changeQuotaSettings(context, {
            exemptPaths: fields.rate_limit_exempt_paths,
            auditsRefusals: fields.enable_rate_limit_audit_logging,
            statesLimits: fields.enable_rate_limit_response_headers,
          });
          return undefined;
        },
      },
    },
  }),
  ...secretsRoutes({
    path: BASE,
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: 'List the rate limit quotas of all namespaces',
        handle: async () => ({ data: { keys: await listQuotaNames(context, rateQuotaRecords) } }),
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/:name`,
    tag: TAG,
    fields: FIELDS,
    hasSettings: true,
    operations: {
      read: {
        summary: 'Read a rate limit quota',
        handle: async ({ fields }) => {
          const quota = await findQuota(context, rateQuotaRecords, fields.name);
          return quota && { data: quotaDocument(quota) };
        },
      },
      update: {
        summary:
          'Create or replace a rate limit quota; parameters that are not given get their defaults',
        handle: async ({ fields }) => {
          await putQuota(context, rateQuotaRecords, {
            name: fields.name,
            path: fields.path,
            rate: fields.rate,
            intervalSeconds: fields.interval,
            blockSeconds: fields.block_interval,
            isInheritable: fields.inheritable,
            role: fields.role,
          });
          return undefined;
        },
      },
      delete: {
        summary: 'Delete a rate limit quota',
        handle: async ({ fields }) => {
          await deleteQuota(context, rateQuotaRecords, fields.name);
          return undefined;
        },
      },
    },
  }),
];
