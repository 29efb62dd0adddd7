/** `make up`: the standalone control plane. `--help` lists its settings. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runConfiguredProcess } from '@keelson/runtime';
import { standaloneConfig } from './config.ts';
import { makeDataFolder, openDataFolder } from './data-folder.ts';
import { firstRunFile } from './first-start.ts';
import { greeting } from './greeting.ts';
import { openStandaloneLog } from './standalone-log.ts';

await runConfiguredProcess({
  name: 'keelson',
  schema: standaloneConfig,
  environment: process.env,
  // The terminal is left to the greeting.
  logDestination: openStandaloneLog,
  exceptionFile: ({ dataDir }) => join(makeDataFolder(dataDir), 'exceptions.json'),
  start: async (config, logger) => {
    // Loaded only now: a wrong setting is reported without waiting for the whole program.
    const { startStandalone } = await import('./compose.ts');
    const folder = openDataFolder(config.dataDir);
    const standalone = await startStandalone({
      config,
      folder,
      environment: process.env,
      logger,
    });
    process.stdout.write(
      greeting({
        dataFolder: folder.path,
        addresses: standalone.addresses,
        caCertificateFile: standalone.caCertificateFile,
        firstRunFile: existsSync(firstRunFile(folder)) ? firstRunFile(folder) : undefined,
        storeFaults: standalone.storeFaults,
        runner: standalone.runs,
        // Tokens are printed to a terminal only: any other output, such as container logs, may be kept.
        ...(standalone.firstRun === undefined || !process.stdout.isTTY
          ? {}
          : { firstRun: standalone.firstRun }),
      }),
    );
    return {
      reload: () => standalone.reload(),
      stop: async () => {
        try {
          await standalone.stop();
        } finally {
          folder.release();
        }
      },
    };
  },
});
