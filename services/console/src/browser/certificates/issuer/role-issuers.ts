/** The roles of an authority by the issuer that each names, for what depends on an issuer. */
import { useQueries } from '@tanstack/react-query';
import { useSecretList } from '../../api/queries.ts';
import { readData } from '../../api/secrets-api.ts';
import { useSession } from '../../api/session.ts';

/** Each role is read by a request of its own. */
const MAX_ROLES_READ = 100;

export interface RoleIssuers {
  readonly roles: readonly { readonly name: string; readonly issuer: string }[];
  readonly isPending: boolean;
  /** Whether there are further roles, or some that the token may not read. */
  readonly isPartial: boolean;
}

export const useRoleIssuers = (mount: string): RoleIssuers => {
  const { secrets, namespace } = useSession();
  const list = useSecretList(`${mount}/roles`);
  const names = list.data?.keys ?? [];
  const read = names.slice(0, MAX_ROLES_READ);
  const answers = useQueries({
    queries: read.map((name) => {
      const path = `${mount}/roles/${encodeURIComponent(name)}`;
      return {
        queryKey: ['secrets', secrets, namespace, path],
        queryFn: async ({ signal }: { signal: AbortSignal }) =>
          (await readData<{ readonly issuer_ref: string }>(path, { signal })) ?? null,
      };
    }),
  });
  return {
    roles: read.flatMap((name, at) => {
      const role = answers[at]?.data;
      return role === undefined || role === null ? [] : [{ name, issuer: role.issuer_ref }];
    }),
    isPending: list.isPending || answers.some(({ isPending }) => isPending),
    isPartial:
      list.error !== null || names.length > read.length || answers.some(({ isError }) => isError),
  };
};
