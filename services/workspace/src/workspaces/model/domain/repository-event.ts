/** Events in a repository, as deliveries of its provider report them. */

import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** Who caused it, with the names and addresses at the provider. */
export const senderShape = Type.Object({
  username: Type.String(),
  avatarUrl: nullable(Type.String()),
  htmlUrl: nullable(Type.String()),
});
export type Sender = Shaped<typeof senderShape>;

const sentShape = Type.Object({
  /** Full commit hash; null if the provider does not send it. */
  commitSha: nullable(Type.String()),
  sender: nullable(senderShape),
});

export const repositoryEventShape = Type.Union([
  Type.Object({ kind: Type.Literal('connection'), workspaceId: Type.String() }),
  Type.Object({
    ...sentShape.properties,
    kind: Type.Literal('push'),
    branch: Type.String(),
    /** The branch's previous commit; null for a new branch. */
    baseSha: nullable(Type.String()),
    compareUrl: nullable(Type.String()),
  }),
  Type.Object({ ...sentShape.properties, kind: Type.Literal('tag'), tag: Type.String() }),
  Type.Object({
    ...sentShape.properties,
    kind: Type.Literal('pull-request'),
    number: Type.Number(),
    title: Type.String(),
    body: Type.String(),
    url: nullable(Type.String()),
    sourceBranch: Type.String(),
    targetBranch: Type.String(),
    /** The merge base, or the target's commit; null if the provider does not send it. */
    baseSha: nullable(Type.String()),
  }),
]);
export type RepositoryEvent = Shaped<typeof repositoryEventShape>;

/** An event that a provider reports. */
export type DeliveredEvent = Exclude<RepositoryEvent, { readonly kind: 'connection' }>;
