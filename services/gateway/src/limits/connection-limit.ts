/**
 * Limits the connections of both ports to what the limit of open files allows. The operating system would reset
 * connections beyond it, and Node says nothing about those.
 */
import { readFileSync } from 'node:fs';
import type { Clock } from '@keelson/clock';
import type { Logger } from '@keelson/logging';
import { Counter, type MetricsRegistry } from '@keelson/metrics';

const PORTS = 2;
/** Files for stores, logs, other services and runs: half of a small limit, this many of a large one. */
const MOST_OTHER_FILES = 512;
/** Time for which a refused connection counts as a fault, so that somebody who can connect again sees it. */
const FAULT_MS = 60_000;

/** The limit of open files of this process; undefined where it is not known or there is none. */
export const openFilesLimit = (): number | undefined => {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    // Only Linux has the file.
    return undefined;
  }
};

export interface ConnectionLimit {
  /** Connections of each port that this gateway may have. */
  readonly ofEachPort: number;
  /** Counts a refused connection. */
  refused(): void;
  /** A sentence for operators if connections were refused within the last minute. */
  faults(): readonly string[];
}

export interface ConnectionLimitParts {
  /** The setting, for each port. */
  readonly maxConnections: number;
  readonly openFiles: number | undefined;
  /** Gateways of the process, each of which has its part. */
  readonly gateways: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: MetricsRegistry;
}

export const createConnectionLimit = ({
  maxConnections,
  openFiles = Number.POSITIVE_INFINITY,
  gateways,
  clock,
  logger,
  registry,
}: ConnectionLimitParts): ConnectionLimit => {
  const others = Math.min(openFiles / 2, MOST_OTHER_FILES);
  const ofEachPort = Math.min(maxConnections, Math.floor((openFiles - others) / PORTS));
  const text =
    ofEachPort < maxConnections
      ? `connections are refused beyond ${ofEachPort} on each port, as the limit of open files is ${openFiles} (LimitNOFILE, ulimit -n)`
      : `connections are refused beyond ${ofEachPort} on each port (KEELSON_MAX_CONNECTIONS)`;
  const counter = new Counter({
    name: 'keelson_http_connections_refused_total',
    help: 'Connections refused because the port had as many as it may have.',
    registers: [registry],
  });
  let lastMs = Number.NEGATIVE_INFINITY;
  const isRecent = (): boolean => clock.nowMs() - lastMs < FAULT_MS;
  return {
    ofEachPort: Math.ceil(ofEachPort / gateways),
    refused: () => {
      counter.inc();
      if (!isRecent()) logger.warn(text);
      lastMs = clock.nowMs();
    },
    faults: () => (isRecent() ? [text] : []),
  };
};
