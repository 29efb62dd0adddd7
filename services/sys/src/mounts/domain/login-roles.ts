import type { MountRecord } from './mount.ts';

/** Methods whose logins have a role. */
const TYPES = ['approle', 'cert', 'jwt', 'kubernetes', 'oidc'];

/** Whether logins at a mount have a role. */
export const hasLoginRoles = ({ table, type }: Pick<MountRecord, 'table' | 'type'>): boolean =>
  table === 'auth' && TYPES.includes(type);
