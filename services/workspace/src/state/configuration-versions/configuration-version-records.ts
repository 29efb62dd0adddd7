import { collection, readableOnly, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import { releaseContent } from '../contents/state-content-operations.ts';
import { configurationVersionShape } from '../model/domain/configuration-version.ts';

/** Keyed by `cv-…`. */
export const configurationVersionRecords = collection('configuration-versions', {
  scope: 'shared',
  version: 1,
  shape: configurationVersionShape,
  kind: 'configuration-version',
  owner: { kind: 'workspace', by: 'workspaceId' },
  index: ['workspaceId'],
});

/**
 * README of a workspace's current configuration, keyed by `ws-…`, and of a provisional one, keyed by `cv-…`.
 */
export const workspaceReadmes = collection('workspace-readmes', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ markdown: Type.String() }),
  owner: [
    { kind: 'workspace', by: '*' },
    { kind: 'configuration-version', by: '*' },
  ],
});

/** Releases the archives of a workspace that is deleted with its configuration versions. */
export const releaseArchivesOf = async (tx: Transaction, workspaceId: string): Promise<void> => {
  const { workspaceId: index } = configurationVersionRecords.by;
  for (const { archive } of await index.records(readableOnly(tx), workspaceId)) {
    await releaseContent(tx, archive);
  }
};
