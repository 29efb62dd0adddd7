import type { Transaction } from '@keelson/storage';
import { keyedRecords } from '../records/keyed-records.ts';
import { releaseContent } from '../states/state-content-operations.ts';
import type { ConfigurationVersion } from './domain/configuration-version.ts';

/** Keyed by `cv-…`. */
export const configurationVersionRecords = keyedRecords<ConfigurationVersion>(
  'shared/configuration-versions/',
);

/** Workspace id, `cv-…`. */
export const workspaceConfigurationVersions = keyedRecords<Record<never, never>>(
  'shared/workspace-configuration-versions/',
);

/** What the current configuration of a workspace says of itself, keyed by `ws-…`; what may yet be current by `cv-…`. */
export const workspaceReadmes = keyedRecords<{ readonly markdown: string }>(
  'shared/workspace-readmes/',
);

/** With their workspace. */
export const removeConfigurationVersionsOf = async (
  tx: Transaction,
  workspaceId: string,
): Promise<void> => {
  workspaceReadmes.delete(tx, workspaceId);
  for (const id of await workspaceConfigurationVersions.keys(tx, [workspaceId])) {
    const version = await configurationVersionRecords.find(tx, id);
    await releaseContent(tx, version?.archive ?? null);
    configurationVersionRecords.delete(tx, id);
    workspaceReadmes.delete(tx, id);
    workspaceConfigurationVersions.delete(tx, workspaceId, id);
  }
};
