/** `sys/generate-root/*`, `sys/generate-root-token/*`, `sys/decode-token`: a root token from key shares. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { field, type OperationContext, secretsRoutes } from '@keelson/secrets-api';
import { type CeremonyForm, IN_ENVELOPE, WITHOUT_ENVELOPE } from './ceremony-form.ts';
import type { Cancellation } from './domain/ceremony.ts';
import { decodeToken } from './domain/one-time-password.ts';
import { TOKEN_CEREMONY, toTokenCeremony } from './seal-document.ts';
import {
  cancelTokenCeremony,
  giveTokenCeremonyShare,
  startTokenCeremony,
  type TokenCeremonyContext,
  tokenCeremonyProgress,
} from './token-ceremony-operations.ts';

const TAG = 'seal';

/** For the start of an attempt that makes a token. */
const ATTEMPT_FIELDS = {
  otp: field.string({ description: 'One-time password of the client (deprecated).', default: '' }),
  pgp_key: field.string({ description: 'PGP key for the token, base64.', default: '' }),
} as const;

/** For the end of an attempt; within its first minutes both are required of a caller without sudo. */
export const CANCEL_FIELDS = {
  nonce: field.string({ description: 'Nonce of the attempt, to cancel it.', default: '' }),
  key: field.string({
    description: 'A key share, hex or base64, to cancel the attempt; in the body only.',
    default: '',
  }),
} as const;

export const SHARE_FIELDS = {
  key: field.string({ description: 'A key share, hex or base64.', default: '' }),
  nonce: field.string({ description: 'Nonce of the attempt.', default: '' }),
} as const;

type CancelContext = OperationContext<{ readonly nonce: string; readonly key: string }>;

/**
 * The nonce, share and rights with which a caller cancels an attempt.
 * @throws KeelsonError `request.invalid` for a key share in the address, which proxies log
 */
export const cancelling = ({ fields, caller, head }: CancelContext): Cancellation => {
  if (new URLSearchParams(head.query).has('key'))
    throw new KeelsonError('request.invalid', {
      text: 'key must be in the body of the request, not in its address',
    });
  const { nonce, key } = fields;
  return { nonce, key, isSudo: caller?.root === true || caller?.sudo === true };
};

interface TokenCeremonyRoutes {
  /** Path of the ceremony, without its last segment. */
  readonly base: string;
  readonly tag: string;
  readonly form: CeremonyForm;
  /** @throws KeelsonError where this cluster does not have the ceremony */
  readonly requireServed?: () => Promise<void>;
}

/** The routes of a ceremony that makes a token. */
export const tokenCeremonyRoutes = (
  ceremony: TokenCeremonyContext,
  { base, tag, form, requireServed }: TokenCeremonyRoutes,
): Route[] => {
  const answer = form.describe(TOKEN_CEREMONY);
  const path = `${base}/attempt`;
  return [
    ...secretsRoutes({
      path,
      tag,
      fields: ATTEMPT_FIELDS,
      operations: {
        update: {
          summary: 'Start an attempt',
          answer,
          handle: async ({ fields: { otp, pgp_key: pgpKey } }) => {
            await requireServed?.();
            const started = await startTokenCeremony(ceremony, { otp, pgpKey });
            // A password that the client sent is not echoed.
            const drawn = otp === '' ? started.attempt?.purpose.password : '';
            return form.present(toTokenCeremony(started, drawn));
          },
        },
      },
    }),
    ...secretsRoutes({
      path,
      tag,
      fields: {},
      operations: {
        read: {
          summary: 'Progress of the attempt',
          answer,
          handle: async () => {
            await requireServed?.();
            return form.present(toTokenCeremony(await tokenCeremonyProgress(ceremony)));
          },
        },
      },
    }),
    ...secretsRoutes({
      path,
      tag,
      fields: CANCEL_FIELDS,
      operations: {
        delete: {
          summary: 'Cancel the attempt',
          handle: async (context) => {
            await requireServed?.();
            await cancelTokenCeremony(ceremony, cancelling(context));
            return undefined;
          },
        },
      },
    }),
    ...secretsRoutes({
      path: `${base}/update`,
      tag,
      fields: SHARE_FIELDS,
      operations: {
        update: {
          summary: 'Give a key share',
          answer,
          handle: async ({ fields }) => {
            await requireServed?.();
            return form.present(toTokenCeremony(await giveTokenCeremonyShare(ceremony, fields)));
          },
        },
      },
    }),
  ];
};

export const generateRootRoutes = (ceremony: TokenCeremonyContext): Route[] => [
  ...tokenCeremonyRoutes(ceremony, {
    base: '/sys/generate-root',
    tag: TAG,
    form: WITHOUT_ENVELOPE,
  }),
  ...tokenCeremonyRoutes(ceremony, {
    base: '/sys/generate-root-token',
    tag: TAG,
    form: IN_ENVELOPE,
  }),
  ...secretsRoutes({
    path: '/sys/decode-token',
    tag: TAG,
    fields: {
      encoded_token: field.string({
        description: 'Encoded token that the ceremony returned.',
        default: '',
      }),
      otp: field.string({ description: 'Its one-time password.', default: '' }),
    },
    operations: {
      update: {
        summary: 'Decode the token of a ceremony',
        handle: ({ fields: { encoded_token: encoded, otp } }) => {
          if (encoded === '')
            throw new KeelsonError('request.invalid', { text: 'missing encoded token' });
          if (otp === '') throw new KeelsonError('request.invalid', { text: 'missing otp' });
          return { data: { token: decodeToken(encoded, otp) } };
        },
      },
    },
  }),
];
