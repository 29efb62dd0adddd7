/** The judgement of records of a snapshot that this cluster could not read after restoring it. */
import { KeelsonError } from '@keelson/errors';
import type { UnreadableRecord } from '@keelson/proto/sys/v1/replication';

export interface FoundUnreadable {
  readonly unreadable: readonly UnreadableRecord[];
  /** Whether this cluster encrypted the snapshot. */
  readonly isOwn: boolean;
  readonly isForced: boolean;
  /** Version of Keelson that made the snapshot. */
  readonly version: string;
}

const REMEDIES = {
  newer: 'Install that version.',
  /** The seal could not be opened with it, for example. */
  required: 'Restore another snapshot.',
  damaged: 'The snapshot-force API restores it with the records that can be read.',
};

/**
 * A record of a newer version refuses every restoration, because the records of its kind would all be lost to this
 * version; so does a damaged one that is needed before the seal is open. Any other damaged record refuses a
 * restoration that is not forced.
 * @returns a sentence for the operator about damaged records that were restored nevertheless
 * @throws KeelsonError `sys.snapshot_unreadable_record`
 */
export const judgeUnreadable = ({
  unreadable,
  isOwn,
  isForced,
  version,
}: FoundUnreadable): string | undefined => {
  const refuse = ({ path, fault }: UnreadableRecord, remedy: string): never => {
    throw new KeelsonError('sys.snapshot_unreadable_record', { path, fault, version, remedy });
  };
  const newer = unreadable.find(({ kind }) => kind === 'newer');
  if (newer !== undefined) refuse(newer, REMEDIES.newer);
  // Records that another cluster encrypted look like damaged ones.
  const damaged = unreadable.filter(({ kind }) => isOwn || kind === 'damaged');
  const required = damaged.find(({ path }) => path.startsWith('node/'));
  if (required !== undefined) refuse(required, REMEDIES.required);
  const [first] = damaged;
  if (first === undefined) return undefined;
  if (!isForced) refuse(first, REMEDIES.damaged);
  return `The snapshot has damaged records, which were restored as they are: ${damaged.map(({ path }) => path).join(', ')} and possibly others. Lists leave them out, and requests that need one are refused.`;
};
