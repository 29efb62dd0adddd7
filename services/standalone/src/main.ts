/** `make up`: the standalone control plane. `--help` lists its settings. */
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { openLogDestination } from '@keelson/logging';
import { runConfiguredProcess } from '@keelson/runtime';
import { startStandalone } from './compose.ts';
import { standaloneConfig } from './config.ts';
import { makeDataFolder, openDataFolder } from './data-folder.ts';
import { firstRunFile } from './first-start.ts';
import { greeting } from './greeting.ts';

await runConfiguredProcess({
  name: 'keelson',
  schema: standaloneConfig,
  environment: process.env,
  // The terminal belongs to the greeting.
  logDestination: ({ logFile, dataDir }) =>
    logFile === '-'
      ? undefined
      : // Made first, so that a folder that cannot be used is refused by its name.
        openLogDestination(logFile ?? join(makeDataFolder(dataDir), 'keelson.log')),
  start: async (config, logger) => {
    const folder = openDataFolder(config.dataDir);
    const standalone = await startStandalone({ config, folder, logger });
    // V8's default again: start.js kept the young generation small, and requests need it large.
    setFlagsFromString('--semi-space-growth-factor=2');
    process.stdout.write(
      greeting({
        dataFolder: folder.path,
        addresses: standalone.addresses,
        caCertificateFile: standalone.caCertificateFile,
        firstRunFile: firstRunFile(folder),
        // To a person only: what is no terminal keeps what it is told, as the logs of a container do.
        ...(standalone.firstRun === undefined || !process.stdout.isTTY
          ? {}
          : { firstRun: standalone.firstRun }),
      }),
    );
    return {
      reload: () => standalone.reload(),
      stop: async () => {
        await standalone.stop();
        folder.release();
      },
    };
  },
});
