import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { field, type OperationContext, rawResponse, secretsRoutes } from '@keelson/secrets-api';
import { presentedToken } from '../tokens/presented-token.ts';
import type { TokenContext } from '../tokens/token-context.ts';
import {
  lookUpWrapping,
  rewrapResponse,
  unwrapResponse,
  wrappingPublicKey,
} from './wrapping-operations.ts';

const FIELDS = {
  token: field.string({
    description: 'Wrapping token; that of the request when absent.',
    default: '',
  }),
} as const;

type Exchange = OperationContext<{ readonly token: string }>;

/** The wrapping token in the body or, without one, the token of the request itself. */
const requireToken = ({ fields, head }: Exchange): string => {
  const token = fields.token || presentedToken(head);
  if (token === '')
    throw new KeelsonError('request.invalid', { text: 'missing "token" value in input' });
  return token;
};

/** `sys/wrapping`. */
export const wrappingRoutes = (context: TokenContext): Route[] => [
  ...secretsRoutes({
    path: '/sys/wrapping/lookup',
    tag: 'wrapping',
    fields: FIELDS,
    operations: {
      update: {
        summary: 'When and for which request a response was wrapped.',
        handle: async (exchange) => {
          const info = await lookUpWrapping(context, requireToken(exchange));
          return {
            data: {
              creation_ttl: info.ttlSeconds,
              creation_time: info.creationTime,
              creation_path: info.creationPath,
            },
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/wrapping/unwrap',
    tag: 'wrapping',
    fields: FIELDS,
    operations: {
      update: {
        summary: 'The wrapped response, once.',
        // It is whatever was wrapped.
        answer: { document: {} },
        handle: async (exchange) => {
          const response = await unwrapResponse(context, requireToken(exchange));
          return rawResponse(200, 'application/json', Buffer.from(response), {
            'cache-control': 'no-store',
          });
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/wrapping/rewrap',
    tag: 'wrapping',
    fields: FIELDS,
    operations: {
      update: {
        summary: 'Move a wrapped response to a new token.',
        handle: async (exchange) => {
          const info = await rewrapResponse(context, requireToken(exchange));
          return {
            wrapInfo: {
              token: info.token,
              accessor: info.accessor,
              ttl: info.ttlSeconds,
              creation_time: info.creationTime,
              creation_path: info.creationPath,
              ...(info.wrappedAccessor === '' ? {} : { wrapped_accessor: info.wrappedAccessor }),
            },
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/wrapping/wrap',
    tag: 'wrapping',
    fields: {},
    operations: {
      update: {
        summary: 'Wrap the given data; without a wrapping header it is answered as it came.',
        anyParameters: true,
        handle: ({ data }) => ({ data }),
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/wrapping/pubkey',
    tag: 'wrapping',
    fields: {},
    operations: {
      read: {
        summary: 'Public key of JWT wrapping tokens.',
        handle: async () => ({ data: { public_key: await wrappingPublicKey(context) } }),
      },
    },
  }),
];
