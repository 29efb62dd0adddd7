import { createHash } from 'node:crypto';

/** Where a service's log and its questions travel. A cluster id is that of the replication set. */
export const streamOf = (clusterId: string, service: string): string =>
  `wal.${clusterId}.${service}`;

/** The log as one secondary gets it: its ids may hold what names of streams may not. */
export const filteredStreamOf = (
  clusterId: string,
  service: string,
  secondaryId: string,
): string => {
  const name = createHash('sha256').update(secondaryId).digest('hex').slice(0, 32);
  return `${streamOf(clusterId, service)}.${name}`;
};

/** Where a secondary finds a log. */
export const streamOfLog = (
  logId: string,
  { clusterId, secondaryId }: { readonly clusterId: string; readonly secondaryId: string },
  service: string,
): string =>
  unfilteredLogOf(logId) === logId
    ? streamOf(clusterId, service)
    : filteredStreamOf(clusterId, service, secondaryId);

/** A log as a filter leaves it is another log: positions in it are of its own. */
export const filteredLogOf = (logId: string, generation: string): string =>
  `${logId}.${generation}`;

export const questionSubject = (clusterId: string, service: string): string =>
  `replication.${clusterId}.${service}`;

/** The log of the primary that a followed one is a view of. */
export const unfilteredLogOf = (logId: string): string => logId.split('.', 1)[0] ?? logId;

/** One replica of a primary, for what it has begun. */
export const replicaSubject = (subject: string, replica: string): string => `${subject}.${replica}`;
