/** What the main files of all processes have in common: settings, help, log, traces, signals. */
import {
  type Config,
  type ConfigSchema,
  describeConfig,
  type Environment,
  parseConfig,
} from '@keelson/config';
import { createLogger, type LogDestination, type Logger } from '@keelson/logging';
import { runProcess, type Stoppable } from './process.ts';
import type { processSettings } from './process-settings.ts';
import { startTracing } from './tracing.ts';

export interface ConfiguredProcess<S extends ConfigSchema> {
  /** "keelson-pki": in logs, traces and refusals to start. */
  readonly name: string;
  /** Includes `processSettings`. */
  readonly schema: S;
  /** `process.env`: main files are its only readers. */
  readonly environment: Environment;
  /** Where log lines go; standard output when absent. */
  readonly logDestination?: (config: Config<S>) => LogDestination | undefined;
  readonly start: (config: Config<S>, logger: Logger) => Promise<Stoppable>;
}

/**
 * Prints the settings for `--help`; else reads them from the environment, starts, and runs until a
 * signal; SIGHUP opens the log file again and reloads what is started. A bad setting stops the start with a sentence that names its key.
 */
export const runConfiguredProcess = async <S extends ConfigSchema>({
  name,
  schema,
  environment,
  logDestination,
  start,
}: ConfiguredProcess<S>): Promise<void> => {
  if (process.argv.includes('--help')) {
    process.stdout.write(describeConfig(schema));
    return;
  }
  await runProcess({
    name,
    start: async () => {
      const config = parseConfig(schema, environment);
      // TypeScript cannot see inside S that the schema includes these.
      const { logLevel, otlpEndpoint } = config as unknown as Config<typeof processSettings>;
      const destination = logDestination?.(config);
      const logger = createLogger({
        name,
        level: logLevel,
        ...(destination === undefined ? {} : { destination }),
      });
      const tracing = await startTracing({ serviceName: name, endpoint: otlpEndpoint, logger });
      const running = await start(config, logger);
      return {
        logger,
        reload: async () => {
          destination?.reopen();
          await running.reload?.();
          logger.info('reloaded');
        },
        stop: async () => {
          await running.stop();
          await tracing.stop();
        },
      };
    },
  });
};
