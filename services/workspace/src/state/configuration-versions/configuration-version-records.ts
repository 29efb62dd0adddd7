import { collection, readableOnly, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import { releaseContent } from '../contents/state-content-operations.ts';
import { configurationVersionShape } from '../model/domain/configuration-version.ts';

/** Keyed by `cv-…`. */
export const configurationVersionRecords = collection('configuration-versions', {
  scope: 'shared',
  version: 1,
  shape: configurationVersionShape,
});

/** Workspace id, `cv-…`. */
export const workspaceConfigurationVersions = collection('workspace-configuration-versions', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({}),
});

/**
 * README of a workspace's current configuration, keyed by `ws-…`, and of a provisional one, keyed by `cv-…`.
 */
export const workspaceReadmes = collection('workspace-readmes', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ markdown: Type.String() }),
});

/** Removes the configuration versions of a deleted workspace. */
export const removeConfigurationVersionsOf = async (
  tx: Transaction,
  workspaceId: string,
): Promise<void> => {
  workspaceReadmes.delete(tx, workspaceId);
  for (const id of await workspaceConfigurationVersions.keys(tx, [workspaceId])) {
    const version = await configurationVersionRecords.find(readableOnly(tx), id);
    await releaseContent(tx, version?.archive ?? null);
    configurationVersionRecords.delete(tx, id);
    workspaceReadmes.delete(tx, id);
    workspaceConfigurationVersions.delete(tx, workspaceId, id);
  }
};
