import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** A repository that workspaces are connected to, with its webhook at the provider. */
export const repositoryHookShape = Type.Object({
  /** `whk-…`, the last part of the webhook's address. */
  id: Type.String(),
  organizationId: Type.String(),
  tokenId: Type.String(),
  /** `:org/:repo`. */
  identifier: Type.String(),
  /** The provider signs deliveries with it, or sends it along. Never shown. */
  secret: Type.String(),
  /** The public address under which the webhook is registered. Null if no public address is configured; then the
   * webhook is not registered at the provider. */
  publicUrl: nullable(Type.String()),
  /** The webhook's id at the provider; null until it is registered. */
  providerId: nullable(Type.String()),
  /** The webhook's id at the provider under an earlier address, removed after the registration; null if there is none. */
  formerProviderId: nullable(Type.String()),
  /** Value at the latest fetch of the repository; null before the first. */
  defaultBranch: nullable(Type.String()),
  /** Why the webhook is not registered; null if it is, or registration has not been tried yet. */
  hookProblem: nullable(Type.String()),
  /** Why the latest fetch of the repository failed; null if it did not. */
  fetchProblem: nullable(Type.String()),
});
export type RepositoryHook = Shaped<typeof repositoryHookShape>;

/** Where the provider sends deliveries; null where it does not know an address. */
export const webhookUrl = ({
  publicUrl,
  id,
}: Pick<RepositoryHook, 'publicUrl' | 'id'>): string | null =>
  publicUrl && `${publicUrl}/api/v2/webhooks/repositories/${id}`;
