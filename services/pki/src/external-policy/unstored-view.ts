import { type MountScope, sharedPrefix } from '@keelson/engine';
import { deriveView, type Store } from '@keelson/storage';
import { roleRecords } from '../roles/role-records.ts';
import { loadPolicyService, policyServicePath } from './policy-service-records.ts';

/**
 * Whether a mount may have issued certificates that it did not store: a role has `no_store`, or a policy
 * service may have asked for it. Answered as of each call.
 */
export const createUnstoredView = (store: Store): ((mount: MountScope) => Promise<boolean>) => {
  const views = new Map<string, () => Promise<boolean>>();
  return (mount) => {
    const key = sharedPrefix(mount);
    let view = views.get(key);
    if (view === undefined) {
      const roles = roleRecords(mount);
      view = deriveView(store, [roles.prefix, policyServicePath(mount)], async (reads) => {
        if ((await loadPolicyService(reads, mount)).updatedAtMs > 0) return true;
        const { entries, damaged } = await roles.readableEntries(reads);
        return damaged.length > 0 || entries.some(([, { noStore }]) => noStore);
      });
      views.set(key, view);
    }
    return view();
  };
};
