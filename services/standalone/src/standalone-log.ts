import { join } from 'node:path';
import { type LogDestination, openLogDestination } from '@keelson/logging';
import { makeDataFolder } from './data-folder.ts';

export interface LogSettings {
  readonly logFile?: string | undefined;
  readonly dataDir: string;
}

/** The log of a thread; undefined for standard output. @throws Error naming a folder that cannot be used */
export const openStandaloneLog = ({ logFile, dataDir }: LogSettings): LogDestination | undefined =>
  logFile === '-'
    ? undefined
    : // Created first, so that the error names a folder that cannot be used.
      openLogDestination(logFile ?? join(makeDataFolder(dataDir), 'keelson.log'));
