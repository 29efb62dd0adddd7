/** Lists of certificates and of their metadata (reference §4.12, §4.13, §5.2). */

import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { field, type JsonObject, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { encodePem, parseSerialText, toSerialHex, toSerialKey } from '@keelson/x509';
import { formatTime } from '../validity/domain/lifetime.ts';
import { certificateSummary } from './certificate-document.ts';
import { certificatesPrefix, findCertificate, metadataRecords } from './certificate-records.ts';
import { searchByExpiry } from './certificate-search-operations.ts';
import { COUNTED_LIMIT, countExpiring } from './expiring-certificates.ts';
import { answerSerials } from './serial-pages.ts';

/** Details are read from each certificate, so that a response has at most this many. */
const MAX_DETAILED = 1000;
const MAX_BATCH = 1000;
const WEEK_MS = 7 * 86_400_000;
const SUMMARIZED_WEEKS = 13;
const LAST_MOMENT_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

const plainRoutes = (store: Store): Route[] => [
  ...secretsRoutes({
    path: '/certs',
    tag: 'certificates',
    fields: {},
    operations: {
      list: {
        summary: 'List certificates by serial number',
        pagesItself: true,
        handle: (context) => {
          const prefix = certificatesPrefix(requireMount(context));
          return answerSerials((options) => store.list(prefix, options), context.fields);
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/certs/detailed',
    tag: 'certificates',
    fields: {
      expires_after: field.time({
        description: 'Only certificates that expire at this time or later.',
      }),
      expires_before: field.time({
        description: 'Only certificates that expire at this time or earlier.',
      }),
      revoked: field.bool({
        description: 'Only certificates that are revoked, or only those that are not.',
      }),
    },
    operations: {
      list: {
        summary: 'List certificates with details, in order of expiry',
        pagesItself: true,
        description: `At most ${MAX_DETAILED}; the last serial number as \`after\` gives the next page. \`revocation_time\` is 0 for a certificate that is not revoked.`,
        handle: async (context) => {
          const { after, limit, expires_after, expires_before } = context.fields;
          const certificates = await searchByExpiry(store, requireMount(context), {
            after,
            limit: limit > 0 ? Math.min(limit, MAX_DETAILED) : MAX_DETAILED,
            fromMs: expires_after?.epochMs ?? 0,
            toMs: expires_before?.epochMs ?? LAST_MOMENT_MS,
            revoked: context.fields.revoked,
          });
          const entries = certificates.map(
            (found) =>
              [toSerialHex(found.certificate.serialNumber), certificateSummary(found)] as const,
          );
          return {
            data: {
              keys: entries.map(([serial]) => serial),
              key_info: Object.fromEntries(entries),
            },
          };
        },
      },
    },
  }),
];

/** Numbers for an operator who decides what to renew. */
const summaryRoutes = ({ store, clock }: CertificateListParts): Route[] =>
  secretsRoutes({
    path: '/certs/summary',
    tag: 'certificates',
    fields: {},
    operations: {
      read: {
        summary: 'Count certificates by their state, and by the week in which they expire',
        description: `Each number is at most ${COUNTED_LIMIT}, which means so many or more.`,
        handle: async (context) => {
          const mount = requireMount(context);
          const nowMs = clock.nowMs();
          const count = (fromMs: number, toMs: number, revoked?: boolean): Promise<number> =>
            countExpiring(store, mount, {
              fromMs,
              toMs,
              ...(revoked !== undefined && { revoked }),
            });
          const weeks: JsonObject[] = [];
          for (let week = 0; week < SUMMARIZED_WEEKS; week += 1) {
            const fromMs = nowMs + week * WEEK_MS;
            weeks.push({
              from: formatTime(fromMs),
              expiring: await count(fromMs, fromMs + WEEK_MS, false),
            });
          }
          return {
            data: {
              valid: await count(nowMs, LAST_MOMENT_MS, false),
              expired: await count(0, nowMs),
              revoked: await count(nowMs, LAST_MOMENT_MS, true),
              expiring_by_week: weeks,
              limit: COUNTED_LIMIT,
            },
          };
        },
      },
    },
  });

const batchRoutes = (store: Store): Route[] =>
  secretsRoutes({
    path: '/batch/certs',
    tag: 'certificates',
    fields: {
      serial_numbers: field.commaList({
        required: true,
        description: 'Serial numbers in hexadecimal.',
      }),
    },
    operations: {
      update: {
        summary: 'Read several certificates',
        handle: async (context) => {
          const mount = requireMount(context);
          const { serial_numbers: serials } = context.fields;
          if (serials.length > MAX_BATCH)
            throw new KeelsonError('request.invalid', {
              text: `more than ${MAX_BATCH} serial numbers in one request`,
            });
          const certificates: Record<string, string | null> = {};
          for (const serial of serials) {
            const der = await findCertificate(store, mount, toSerialKey(parseSerialText(serial)));
            certificates[serial] = der === undefined ? null : encodePem('CERTIFICATE', der);
          }
          return { data: { certificates } };
        },
      },
    },
  });

const metadataRoutes = (store: Store): Route[] => [
  ...secretsRoutes({
    path: '/cert-metadata',
    tag: 'certificates',
    fields: {},
    operations: {
      list: {
        summary: 'List certificates that have metadata',
        pagesItself: true,
        handle: (context) => {
          const records = metadataRecords(requireMount(context));
          return answerSerials((options) => records.keys(store, [], options), context.fields);
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/cert-metadata/:serial',
    tag: 'certificates',
    fields: {
      serial: field.string({ default: '', description: 'Serial number in hexadecimal.' }),
    },
    operations: {
      read: {
        summary: 'Read the metadata of a certificate',
        handle: async (context) => {
          const serial = parseSerialText(context.fields.serial);
          const records = metadataRecords(requireMount(context));
          const found = await records.find(store, toSerialKey(serial));
          return (
            found && {
              data: {
                cert_metadata: found.metadata,
                expiration: formatTime(found.notAfterMs),
                issuer_id: found.issuerId,
                role: found.role,
                serial_number: toSerialHex(serial),
              },
            }
          );
        },
      },
    },
  }),
];

interface CertificateListParts {
  readonly store: Store;
  readonly clock: Clock;
}

export const certificateListRoutes = ({ store, clock }: CertificateListParts): Route[] => [
  ...plainRoutes(store),
  ...summaryRoutes({ store, clock }),
  ...batchRoutes(store),
  ...metadataRoutes(store),
];
