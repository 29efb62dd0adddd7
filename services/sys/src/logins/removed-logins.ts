/** Removes the tokens of logins at mounts that are gone, whether this cluster, the primary or a filter removed them. */
import type { TransactOptions } from '@keelson/storage';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import type { TokenContext } from '../tokens/token-context.ts';
import { removeTokensOfRemovedMounts } from '../tokens/token-revocation-operations.ts';

/**
 * @param mounts returns the same object until a mount changes
 * @returns one check, which costs nothing while the mounts are unchanged since the previous check
 */
export const createRemovedLoginCheck = (
  tokens: TokenContext,
  mounts: () => Promise<MountIndex>,
): ((options: TransactOptions) => Promise<void>) => {
  let seen: MountIndex | undefined;
  return async (options) => {
    const index = await mounts();
    if (index === seen) return;
    await removeTokensOfRemovedMounts(tokens, options);
    seen = index;
  };
};
