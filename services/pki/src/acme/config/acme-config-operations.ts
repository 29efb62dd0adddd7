import { type MountScope, sharedPrefix } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { deriveView, type Store } from '@keelson/storage';
import { loadAuthority } from '../../issuers/issuer-records.ts';
import { settingsBefore } from '../../mounts/damaged-settings.ts';
import { findRole } from '../../roles/role-operations.ts';
import { acmeConfigRecord } from './acme-config-records.ts';
import {
  type AcmeConfig,
  allowsAll,
  checkAcmeConfig,
  DEFAULT_ACME_CONFIG,
  parseDefaultPolicy,
} from './domain/acme-config.ts';

/** Cached configurations of all mounts; each is reread only after it changed. */
export interface AcmeConfigs {
  /** The configuration in effect. */
  of(mount: MountScope): Promise<AcmeConfig>;
  /** The configuration as it was written. */
  stored(mount: MountScope): Promise<AcmeConfig>;
}

/**
 * @param isPublicDisabled every account needs an external account binding, regardless of the
 * mount's configuration
 */
export const createAcmeConfigs = (store: Store, isPublicDisabled: boolean): AcmeConfigs => {
  const views = new Map<string, () => Promise<Record<'stored' | 'inEffect', AcmeConfig>>>();
  const configsOf = (mount: MountScope) => {
    const key = sharedPrefix(mount);
    let view = views.get(key);
    if (view === undefined) {
      const record = acmeConfigRecord(mount);
      view = deriveView(store, [record.path], async (reads) => {
        const stored = (await record.find(reads)) ?? DEFAULT_ACME_CONFIG;
        const inEffect: AcmeConfig = isPublicDisabled
          ? { ...stored, eabPolicy: 'always-required' }
          : stored;
        return { stored, inEffect };
      });
      views.set(key, view);
    }
    return view();
  };
  return {
    of: async (mount) => (await configsOf(mount)).inEffect,
    stored: async (mount) => (await configsOf(mount)).stored,
  };
};

/** Warns that another policy than the stored one is in effect. */
export const PUBLIC_ACME_DISABLED =
  'SERVICE_DISABLE_PUBLIC_ACME env var is enabled: every account needs an external account binding, regardless of eab_policy';

export const CLUSTER_PATH_NEEDED =
  "ACME feature requires local cluster 'path' field configuration to be set";

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

export interface ConfigChange {
  readonly mount: MountScope;
  readonly isPublicDisabled: boolean;
  readonly change: (before: AcmeConfig) => AcmeConfig;
}

/**
 * Changes the configuration of a mount, checked against its roles, issuers and addresses.
 * @throws KeelsonError `request.invalid`
 */
export const updateAcmeConfig = (
  store: Store,
  { mount, isPublicDisabled, change }: ConfigChange,
): Promise<{ readonly config: AcmeConfig; readonly warnings: readonly string[] }> =>
  store.transact(async (tx) => {
    const record = acmeConfigRecord(mount);
    const { before, warnings } = await settingsBefore(record.find(tx), DEFAULT_ACME_CONFIG);
    const known = before ?? DEFAULT_ACME_CONFIG;
    const config = checkAcmeConfig(change(known));
    // A policy from before the setting stays stored, and is in effect again once the setting is removed.
    const isWanted = !known.enabled || config.eabPolicy !== known.eabPolicy;
    const isPublic = config.enabled && config.eabPolicy !== 'always-required';
    if (isPublicDisabled && isPublic && isWanted)
      refuse(
        "SERVICE_DISABLE_PUBLIC_ACME env var is enabled, ACME EAB policy needs to be 'always-required' with ACME enabled",
      );
    const authority = await loadAuthority(tx, mount);
    if (config.enabled && authority.settings.cluster.path === '')
      // A performance secondary checks its own path, then forwards the change to the primary, which checks its.
      refuse(
        `${CLUSTER_PATH_NEEDED}: write config/cluster here and, on a performance secondary, also on its primary`,
      );
    const policy = parseDefaultPolicy(config.defaultDirectoryPolicy);
    const named = [
      ...(allowsAll(config.allowedRoles) ? [] : config.allowedRoles).map(
        (name) => [name, 'allowed_roles'] as const,
      ),
      ...(policy.kind === 'role' ? [[policy.role, 'default_directory_policy'] as const] : []),
    ];
    for (const [name, where] of named) {
      const role = await findRole(tx, mount, name);
      if (role === undefined) refuse(`role ${name} specified in ${where} does not exist`);
      if (role?.noStore === true)
        refuse(`role ${name} specified in ${where} sets no_store=true and cannot be used`);
    }
    if (!allowsAll(config.allowedIssuers))
      for (const reference of config.allowedIssuers)
        if (authority.findIssuer(reference) === undefined)
          refuse(`issuer ${reference} specified in allowed_issuers does not exist`);
    record.write(tx, config);
    return { config, warnings };
  });
