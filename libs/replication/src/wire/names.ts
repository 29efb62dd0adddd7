/** Where a service's log and its questions travel. A cluster id is that of the replication set. */
export const streamOf = (clusterId: string, service: string): string =>
  `wal.${clusterId}.${service}`;

export const questionSubject = (clusterId: string, service: string): string =>
  `replication.${clusterId}.${service}`;

/** The log of the primary that a followed one is a view of. */
export const unfilteredLogOf = (logId: string): string => logId.split('.', 1)[0] ?? logId;
