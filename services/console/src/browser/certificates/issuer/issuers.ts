/** All issuers of an authority with their certificates. */
import { useQueries } from '@tanstack/react-query';
import { useSecretList } from '../../api/queries.ts';
import { readData } from '../../api/secrets-api.ts';
import { useSession } from '../../api/session.ts';
import type { Issuer, IssuerInfo } from './issuer.ts';

/** The name of an issuer for people. */
export const nameOfIssuer = (
  id: string,
  info: Pick<IssuerInfo, 'common_name' | 'issuer_name'> | undefined,
): string => info?.common_name || info?.issuer_name || id;

export const useIssuers = (mount: string) => {
  const { secrets, namespace } = useSession();
  const list = useSecretList<IssuerInfo>(`${mount}/issuers`);
  const ids = list.data?.keys ?? [];
  const answers = useQueries({
    queries: ids.map((id) => ({
      queryKey: ['secrets', secrets, namespace, `${mount}/issuer/${id}`],
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        (await readData<Issuer>(`${mount}/issuer/${id}`, { signal })) ?? null,
    })),
  });
  /** The issuers that were read so far, by their id. */
  const documents: ReadonlyMap<string, Issuer> = new Map(
    ids.flatMap((id, at) => {
      const issuer = answers[at]?.data;
      return issuer === undefined || issuer === null ? [] : [[id, issuer] as const];
    }),
  );
  return { list, documents, isPending: answers.some(({ isPending }) => isPending) };
};
