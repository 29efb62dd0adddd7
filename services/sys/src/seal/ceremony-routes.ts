/** `sys/generate-root/*`, `sys/decode-token`: a root token from key shares. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import {
  type FinalAnswer,
  field,
  type JsonObject,
  type OperationContext,
  secretsRoutes,
  topLevel,
} from '@keelson/secrets-api';
import { decodeToken } from './domain/one-time-password.ts';
import { TOKEN_CEREMONY, toTokenCeremony, withoutNonces } from './seal-document.ts';
import {
  cancelTokenCeremony,
  giveTokenCeremonyShare,
  startTokenCeremony,
  type TokenCeremonyContext,
  tokenCeremonyProgress,
} from './token-ceremony-operations.ts';

const TAG = 'seal';

/** For the start of an attempt that makes a token. */
export const ATTEMPT_FIELDS = {
  otp: field.string({ description: 'One-time password of the client (deprecated).', default: '' }),
  pgp_key: field.string({ description: 'PGP key for the token, base64.', default: '' }),
} as const;

export const CANCEL_FIELDS = {
  nonce: field.string({ description: 'Nonce of the attempt, to cancel it.', default: '' }),
} as const;

export const SHARE_FIELDS = {
  key: field.string({ description: 'A key share, hex or base64.', default: '' }),
  nonce: field.string({ description: 'Nonce of the attempt.', default: '' }),
} as const;

type CeremonyContext = OperationContext<unknown>;
type CancelContext = OperationContext<{ readonly nonce: string }>;

const hasSudo = ({ caller }: CeremonyContext): boolean =>
  caller?.root === true || caller?.sudo === true;

/** The authority of a caller to cancel: the nonce (body or query), or a token with sudo. */
export const cancelling = (context: CancelContext): { nonce: string; isSudo: boolean } => ({
  nonce: context.fields.nonce,
  isSudo: hasSudo(context),
});

/** The progress of an attempt; only callers with sudo see its nonces. */
export const progressFor = (context: CeremonyContext, status: JsonObject): FinalAnswer =>
  topLevel(hasSudo(context) ? status : withoutNonces(status));

export const generateRootRoutes = (ceremony: TokenCeremonyContext): Route[] => [
  ...secretsRoutes({
    path: '/sys/generate-root/attempt',
    tag: TAG,
    fields: ATTEMPT_FIELDS,
    operations: {
      update: {
        summary: 'Start an attempt',
        answer: TOKEN_CEREMONY,
        handle: async ({ fields: { otp, pgp_key: pgpKey } }) => {
          const started = await startTokenCeremony(ceremony, { otp, pgpKey });
          // A password that the client sent is not echoed.
          const drawn = otp === '' ? started.attempt?.purpose.password : '';
          return topLevel(toTokenCeremony(started, drawn));
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/generate-root/attempt',
    tag: TAG,
    fields: CANCEL_FIELDS,
    operations: {
      read: {
        summary: 'Progress of the attempt',
        answer: TOKEN_CEREMONY,
        handle: async (context) =>
          progressFor(context, toTokenCeremony(await tokenCeremonyProgress(ceremony))),
      },
      delete: {
        summary: 'Cancel the attempt',
        handle: async (exchange) => {
          await cancelTokenCeremony(ceremony, cancelling(exchange));
          return undefined;
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/generate-root/update',
    tag: TAG,
    fields: SHARE_FIELDS,
    operations: {
      update: {
        summary: 'Give a key share',
        answer: TOKEN_CEREMONY,
        handle: async ({ fields }) =>
          topLevel(toTokenCeremony(await giveTokenCeremonyShare(ceremony, fields))),
      },
    },
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
