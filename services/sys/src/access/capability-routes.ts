/** `sys/capabilities`, `-self`, `-accessor`, and the summary of policies that the console requests. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { field, mirrored, type OperationContext, secretsRoutes } from '@keelson/secrets-api';
import type { PolicyIndex } from '../policies/policy-index.ts';
import type { TokenEntry } from '../tokens/domain/token-entry.ts';
import type { TokenContext } from '../tokens/token-context.ts';
import { findToken, findTokenByAccessor } from '../tokens/token-operations.ts';
import { rightsOf, rightsOfCaller } from '../tokens/token-rights-operations.ts';
import { capabilitiesOf, type Subject } from './capability-operations.ts';

const TAG = 'policies';

const PATHS = {
  paths: field.commaList({ description: 'Paths to ask about.', default: [] }),
  path: field.commaList({ description: 'Older name of paths.', default: [] }),
} as const;

type PathFields = { readonly paths: readonly string[]; readonly path: readonly string[] };

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

export const capabilityRoutes = (
  tokens: TokenContext,
  policies: () => Promise<PolicyIndex>,
): Route[] => {
  const answer = async (subject: Subject, { namespace, fields }: OperationContext<PathFields>) => {
    const paths = fields.paths.length > 0 ? fields.paths : fields.path;
    if (paths.length === 0) refuse('paths must be supplied');
    const index = await policies();
    const byPath = Object.fromEntries(
      paths.map((path) => [path, capabilitiesOf(index, subject, namespace, path)]),
    );
    const [only] = paths;
    return mirrored(
      paths.length === 1 && only !== undefined ? { ...byPath, capabilities: byPath[only] } : byPath,
    );
  };

  const subjectOf = async (token: TokenEntry): Promise<Subject> => ({
    namespace: token.namespace,
    rights: await rightsOf(tokens, token),
  });

  return [
    ...secretsRoutes({
      path: '/sys/capabilities',
      tag: TAG,
      fields: { ...PATHS, token: field.string({ description: 'The token.', default: '' }) },
      operations: {
        update: {
          summary: 'Capabilities of a token',
          answer: { mirrored: {} },
          handle: async (exchange) => {
            const { token } = exchange.fields;
            if (token === '') refuse('token must be supplied');
            const found = (await findToken(tokens, token)) ?? refuse('invalid token');
            return answer(await subjectOf(found), exchange);
          },
        },
      },
    }),
    ...secretsRoutes({
      path: '/sys/capabilities-self',
      tag: TAG,
      fields: PATHS,
      operations: {
        update: {
          summary: 'Capabilities of the token of the request',
          answer: { mirrored: {} },
          handle: async (exchange) => {
            const { caller } = exchange;
            if (caller === undefined) throw new KeelsonError('sys.permission_denied');
            const { namespace = { id: 'root', path: '' } } = caller;
            return answer({ namespace, rights: await rightsOfCaller(tokens, caller) }, exchange);
          },
        },
      },
    }),
    ...secretsRoutes({
      path: '/sys/capabilities-accessor',
      tag: TAG,
      fields: { ...PATHS, accessor: field.string({ description: 'Accessor.', default: '' }) },
      operations: {
        update: {
          summary: 'Capabilities of a token named by its accessor',
          answer: { mirrored: {} },
          handle: async (exchange) => {
            const { fields, namespace } = exchange;
            if (fields.accessor === '') refuse('accessor must be supplied');
            const token = await findTokenByAccessor(tokens, namespace.id, fields.accessor);
            return answer(await subjectOf(token ?? refuse('invalid accessor')), exchange);
          },
        },
      },
    }),
  ];
};
