import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { deriveView, type Store } from '@keelson/storage';
import type { Authority } from '../issuers/domain/authority.ts';
import { loadAuthority } from '../issuers/issuer-records.ts';
import { settingsBefore } from '../mounts/damaged-settings.ts';
import { requireRole } from '../roles/role-operations.ts';
import { checkEstConfig, type EstConfig, NO_EST, pathPoliciesOf } from './domain/est-config.ts';
import {
  EST_PREFIXES,
  type EstConfigs,
  loadEstConfig,
  loadEstConfigs,
  writeEstConfig,
} from './est-config-records.ts';

/** Settings that two mounts may not share (reference §9.1). */
const checkUnique = (config: EstConfig, others: readonly EstConfig[]): void => {
  if (config.defaultMount && others.some(({ defaultMount }) => defaultMount))
    throw new KeelsonError('request.invalid', { text: 'another mount is the default mount' });
  const taken = Object.keys(config.labelToPathPolicy).find((label) =>
    others.some(({ labelToPathPolicy }) => Object.hasOwn(labelToPathPolicy, label)),
  );
  if (taken !== undefined)
    throw new KeelsonError('request.invalid', {
      text: `the label "${taken}" belongs to another mount`,
    });
};

const checkIssuers = (authority: Authority, references: readonly string[]): void => {
  const unknown = references.find((reference) => authority.findIssuer(reference) === undefined);
  if (unknown !== undefined)
    throw new KeelsonError('request.invalid', {
      text: `authenticators.cert.issuers: there is no issuer ${unknown}`,
    });
};

/**
 * Changes how a mount serves EST.
 * @throws KeelsonError `request.invalid`, `pki.role_not_found`
 */
export const updateEstConfig = (
  store: Store,
  mount: MountScope,
  change: (before: EstConfig) => EstConfig,
  nowMs: number,
): Promise<{ readonly config: EstConfig; readonly warnings: readonly string[] }> =>
  store.transact(async (tx) => {
    const { before, warnings } = await settingsBefore(loadEstConfig(tx, mount), NO_EST);
    const changed = checkEstConfig(change(before));
    for (const policy of pathPoliciesOf(changed))
      if (policy.kind === 'role') await requireRole(tx, mount, policy.role);
    if (changed.certificate !== before.certificate)
      checkIssuers(await loadAuthority(tx, mount), changed.certificate?.issuers ?? []);
    const { readable } = await loadEstConfigs(tx);
    checkUnique(
      changed,
      [...readable].flatMap(([uuid, config]) => (uuid === mount.uuid ? [] : [config])),
    );
    const updated = { ...changed, updatedAtMs: nowMs };
    writeEstConfig(tx, mount, updated);
    return { config: updated, warnings };
  });

/** Settings of all mounts, as of each call. */
export const followEstConfigs = (store: Store): (() => Promise<EstConfigs>) =>
  deriveView(store, EST_PREFIXES, loadEstConfigs);
