import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** Whoever caused a revocation. */
export const revokerShape = Type.Union([
  Type.Object({
    /** The cluster that asked this one to revoke; undefined if this one was asked. */
    clusterId: Type.Optional(Type.String()),
    kind: Type.Literal('token'),
    displayName: Type.String(),
    metadata: Type.Record(Type.String(), Type.String()),
    /** Leads to the entry of the audit log. */
    requestId: Type.String(),
  }),
  Type.Object({
    /** The cluster that asked this one to revoke; undefined if this one was asked. */
    clusterId: Type.Optional(Type.String()),
    kind: Type.Literal('acme-account'),
    accountId: Type.String(),
  }),
  Type.Object({
    /** The cluster that asked this one to revoke; undefined if this one was asked. */
    clusterId: Type.Optional(Type.String()),
    kind: Type.Literal('certificate-key'),
  }),
  Type.Object({
    /** The cluster that asked this one to revoke; undefined if this one was asked. */
    clusterId: Type.Optional(Type.String()),
    kind: Type.Literal('lease'),
  }),
]);
export type Revoker = Shaped<typeof revokerShape>;
