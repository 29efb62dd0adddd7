import type { Reads, Transaction } from '@keelson/storage';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import type { ConfigurationVersion } from '../model/domain/configuration-version.ts';
import type { StateVersion } from '../model/domain/state-version.ts';

/** An uploaded configuration. */
export interface UploadedConfiguration {
  readonly workspace: Workspace;
  readonly version: ConfigurationVersion;
  /** Whether the caller who created it may apply. */
  readonly mayApply: boolean;
}

/** Steps of the runs module when states and configurations change. */
export interface StateSteps {
  /** Runs in the transaction that stores the upload. */
  onConfigurationUploaded?(tx: Transaction, uploaded: UploadedConfiguration): Promise<void>;
  /** Runs in the transaction that gives the version its content. */
  onStateStored?(tx: Transaction, version: StateVersion): Promise<void>;
  /** Why the files of a configuration are still needed; undefined when they are not. */
  findConfigurationNeed?(
    reads: Reads,
    workspaceId: string,
    versionId: string,
  ): Promise<string | undefined>;
}
