import { createHash } from 'node:crypto';

/** Stream of a service's log. `clusterId` is the id of the replication set. */
export const streamOf = (clusterId: string, service: string): string =>
  `wal.${clusterId}.${service}`;

/** Stream of one filtered secondary. Its id is hashed because not every id is a valid stream name. */
export const filteredStreamOf = (
  clusterId: string,
  service: string,
  secondaryId: string,
): string => {
  const name = createHash('sha256').update(secondaryId).digest('hex').slice(0, 32);
  return `${streamOf(clusterId, service)}.${name}`;
};

/** Stream in which a secondary finds a log. */
export const streamOfLog = (
  logId: string,
  { clusterId, secondaryId }: { readonly clusterId: string; readonly secondaryId: string },
  service: string,
): string =>
  unfilteredLogOf(logId) === logId
    ? streamOf(clusterId, service)
    : filteredStreamOf(clusterId, service, secondaryId);

/** A filtered log has its own id, because its positions are not those of the whole log. */
export const filteredLogOf = (logId: string, generation: string): string =>
  `${logId}.${generation}`;

export const questionSubject = (clusterId: string, service: string): string =>
  `replication.${clusterId}.${service}`;

/** The log of the primary that a followed one is a view of. */
export const unfilteredLogOf = (logId: string): string => logId.split('.', 1)[0] ?? logId;

/** Subject of one replica of a primary, for the later parts of an exchange that it began. */
export const replicaSubject = (subject: string, replica: string): string => `${subject}.${replica}`;
