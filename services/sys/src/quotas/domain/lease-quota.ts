/** Limits on the number of leases, which an operator sets by path: secrets with a lease, and service tokens. */
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const leaseQuotaShape = Type.Object({
  name: Type.String(),
  namespaceId: Type.String(),
  /** Absent for a quota of a whole namespace. */
  mountUuid: Type.Optional(Type.String()),
  /** Path below the mount; "" for all of it. A "*" at its end stands for any text. */
  below: Type.String(),
  /** In lower case; absent for a quota that is not of the logins with a role. */
  role: Type.Optional(Type.String()),
  maxLeases: Type.Number(),
  /** A quota of a namespace also applies to those below it that have none, all together. */
  isInheritable: Type.Boolean(),
});
export type LeaseQuota = Shaped<typeof leaseQuotaShape>;
